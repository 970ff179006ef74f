"""A CMSIS-Pack: a .pack file with a component that brings the library for the device's processor."""

import zipfile

from prefix import HERE, PackageError, fill, write_headers, write_license

# processor: what a condition of the pack asks of the device.
CONDITIONS = {
    "cortex-m4": 'Dcore="Cortex-M4" Dfpu="SP_FPU"',
    "cortex-m7": 'Dcore="Cortex-M7" Dfpu="DP_FPU"',
    "cortex-m33": 'Dcore="Cortex-M33" Dfpu="SP_FPU" Ddsp="DSP"',
    "cortex-m55": 'Dcore="Cortex-M55" Dmve="FP_MVE"',
    "cortex-m85": 'Dcore="Cortex-M85" Dmve="FP_MVE"',
}
DATE = (2026, 1, 1, 0, 0, 0)  # the same files make the same pack


def description(prefixes):
    conditions, files, accepted = [], [], []
    for prefix in prefixes:
        name = prefix.processor
        conditions.append(f'    <condition id="{name}">\n      <require {CONDITIONS[name]}/>\n    </condition>')
        accepted.append(f'      <accept condition="{name}"/>')
        files.append(f'        <file category="library" name="lib/{name}/libgyre_embedded.a" condition="{name}"/>')
    text = (HERE / "cmsis" / "Gyre.gyre_embedded.pdsc.in").read_text(encoding="utf-8")
    return fill(text, prefixes, conditions="\n".join(conditions), accepted="\n".join(accepted), libraries="\n".join(files))


def write(out, prefixes):
    for prefix in prefixes:
        if prefix.processor not in CONDITIONS:
            raise PackageError(f"cmsis: got {prefix.processor}, valid: {', '.join(CONDITIONS)}")
    content = out / "content"
    if content.exists():
        raise PackageError(f"{content} exists: remove it")
    write_headers(content / "include", prefixes)
    write_license(content, prefixes)
    (content / "Gyre.gyre_embedded.pdsc").write_text(description(prefixes), encoding="utf-8")
    for prefix in prefixes:
        library = content / "lib" / prefix.processor
        library.mkdir(parents=True)
        (library / prefix.library.name).write_bytes(prefix.library.read_bytes())
    pack = out / f"Gyre.gyre_embedded.{prefixes[0].version}.pack"
    with zipfile.ZipFile(pack, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(path for path in content.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(file.relative_to(content).as_posix(), DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, file.read_bytes())
    return pack
