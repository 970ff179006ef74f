"""Black-box tests of the program gyre, with .npy files that NumPy makes.

    python cli_test.py /path/to/gyre [unittest arguments]

Needs Python 3.8 or later and NumPy.
"""

import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from harness import GyreTest

# Every name imported here is a class of tests that unittest.main() finds.
from attention_gradients_test import AttentionGradients
from attention_rotation_test import AttentionRotation
from attention_test import Attention
from c_table_test import CTable
from files_test import Files
from frequencies_test import Frequencies
from help_test import Help
from linear_attention_test import LinearAttention
from listing_test import Bench, Listing, Tuner
from new_generator_test import NewGenerator
from plot_test import Plot
from refused_files_test import RefusedFiles
from refused_json_test import RefusedJson
from refused_options_test import RefusedOptions
from refused_tensors_test import RefusedTensors
from rotary_test import Rotary

if __name__ == "__main__":
    if len(sys.argv) < 2 or not os.access(sys.argv[1], os.X_OK):
        sys.exit(__doc__)
    GyreTest.program = os.path.abspath(sys.argv.pop(1))
    unittest.main()
