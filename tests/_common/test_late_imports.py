"""A library is imported when it is used."""

import subprocess
import sys


def test_a_late_module_is_loaded_when_it_is_used_and_not_before():
    """scikit-learn asks for scipy.stats when it is loaded; whoever uses it gets it, and only then it
    loads."""
    code = (
        "import sys\n"
        "from softspread._common.late_imports import import_when_used\n"
        "import_when_used('scipy.stats', functions=('gmean', 'rankdata'))\n"
        "import softspread.cli.fitting\n"
        "import sklearn.linear_model\n"
        "from scipy.stats import rankdata as ranks\n"
        "assert 'scipy.stats._stats_py' not in sys.modules\n"
        "assert ranks([3, 1, 2]).tolist() == [3, 1, 2]\n"
        "assert 'scipy.stats._stats_py' in sys.modules\n"
        "import scipy.stats\n"
        "assert abs(scipy.stats.norm.cdf(0.0) - 0.5) < 1e-15\n"
        "from scipy.stats import beta, rankdata\n"
        "assert rankdata([3, 1, 2]).tolist() == [3, 1, 2]\n"
        "import scipy.stats.qmc\n"
        "from sklearn.utils.fixes import _mode\n"
        "assert sys.modules['scipy.stats'].__spec__ is not None\n"
        "import_when_used('scipy.stats')\n"
        "assert sys.modules['scipy.stats'].__spec__ is not None"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_a_block_of_late_imports_leaves_the_session_as_it_was():
    """After the block the module is imported as ever, also by those who met its stand-in."""
    code = (
        "import sys\n"
        "from softspread._common.late_imports import imported_when_used\n"
        "with imported_when_used('scipy.stats', functions=('gmean', 'rankdata')):\n"
        "    import sklearn.base\n"
        "    import scipy.stats as met\n"
        "    with imported_when_used('scipy.stats'):\n"
        "        pass\n"
        "    assert sys.modules['scipy.stats'] is met\n"
        "assert 'scipy.stats' not in sys.modules\n"
        "import scipy.stats\n"
        "assert scipy.stats is not met and scipy.stats.__spec__ is not None\n"
        "assert met.norm is scipy.stats.norm\n"
        "with imported_when_used('scipy.stats'):\n"
        "    assert sys.modules['scipy.stats'] is scipy.stats\n"
        "assert sys.modules['scipy.stats'] is scipy.stats"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
