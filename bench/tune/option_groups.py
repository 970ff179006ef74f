"""Options of the commands, in groups that several of them have."""

from option_values import knob, name, not_negative, positive, whole
from shapes import shape


def add_build(parser, build):
    parser.add_argument(
        "--build",
        default=build,
        metavar="DIR",
        help="the build tree, or a folder that gyre_add_kernels() made; default: the program's own",
    )


def add_studies(parser):
    parser.add_argument("--studies", default=None, metavar="DIR", help="where studies are kept; default: BUILD/tune")


def add_storage(parser):
    parser.add_argument(
        "--storage", metavar="URL", help="database of trials, shared by several machines; default: a file in the study"
    )


def add_runner(parser):
    parser.add_argument("--threads", type=whole(1, 4096), default=1)
    parser.add_argument("--limit-seconds", type=positive, default=60, metavar="N", help="for making or running a candidate, 60")
    parser.add_argument("--limit-memory", type=whole(64, 1 << 24), default=4096, metavar="MiB", help="likewise, 4096")
    parser.add_argument("--runner", metavar="PATH", help="gyre_tune_runner; default: the build's")


def add_shape(parser):
    parser.add_argument(
        "--shape", action="append", type=shape, metavar="b=1,h=8,lq=1024", help="what to time; several: their geometric mean"
    )


def add_comparison(parser):
    parser.add_argument("old", metavar="OLD.so", help="what cmake/go kernel made")
    parser.add_argument("new", metavar="NEW.so", help="what it made later")
    parser.add_argument("--kernel", required=True, type=name, metavar="NAME", help="say attention_plain_f32_d64")
    add_shape(parser)
    add_runner(parser)
    parser.add_argument("--seconds", type=positive, default=10, metavar="N", help="of timing, for each shape, 10")
    parser.add_argument("--no-verify", action="store_true", help="do not compare with the oracles before")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")


def add_campaign(parser):
    parser.add_argument("--target", nargs="+", type=name, metavar="NAME", help="in this order; default: the best that this machine can run")
    parser.add_argument("--budget", type=not_negative, metavar="M", help="minutes after which no other kernel is begun; default: none")
    parser.add_argument("--minutes", type=positive, default=10, metavar="M", help="of the search for a kernel, 10")
    parser.add_argument("--heaviest", type=whole(1), metavar="N", help="so many kernels of each target alone, measured or not; default: all")
    parser.add_argument("--unmeasured", action="store_true", help="of these, kernels alone whose knobs have no evidence")
    parser.add_argument("--only", nargs="+", default=[""], metavar="TEXT", help="calls whose names have one of these in them")
    parser.add_argument("--list", action="store_true", help="say which kernels that means, in order, and do nothing")
    parser.add_argument("--restart", action="store_true", help="forget what an earlier campaign has done; default: go on")
    parser.add_argument("--report", metavar="FILE", help="default: STUDIES/campaign/report.md")
    add_tuning(parser)
    add_runner(parser)
    add_sessions(parser)


def add_tuning(parser):
    parser.add_argument(
        "--tuning", metavar="DIR", help="where <target>.json is read and written; default: the sources' generators/tuning"
    )


def add_sessions(parser):
    parser.add_argument(
        "--trial-seconds",
        type=positive,
        default=1,
        metavar="N",
        help="of the session that times a candidate, for each shape, 1",
    )
    parser.add_argument(
        "--final-seconds", type=positive, default=30, metavar="N", help="of the session that decides, for each shape, 30"
    )


def add_study(parser):
    parser.add_argument("kernel", help="its name, say attention_plain_f32_d64, the beginning of one, or a pattern with *")
    parser.add_argument("--target", default="host", metavar="NAME", help="host (default): the best that this machine can run")
    add_shape(parser)
    add_runner(parser)
    parser.add_argument("--sampler", choices=("tpe", "random", "grid", "near"), default="tpe")
    parser.add_argument("--seed", type=whole(0), default=1)
    parser.add_argument(
        "--knobs", nargs="+", type=knob, default=[], metavar="NAME=VALUE", help="begin there, not at the stored knobs"
    )
    parser.add_argument("--study", type=name, metavar="NAME", help="tell studies of one kernel apart; default: SAMPLER-SEED")
    add_tuning(parser)
    parser.add_argument("--no-write", action="store_true", help="leave <target>.json as it is")
    parser.add_argument("--force", action="store_true", help="also replace knobs that were found on more shapes")
    add_sessions(parser)
