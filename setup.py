"""Compile the kernels; everything else about the package is in pyproject.toml."""

import os
import re
import sys
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

KERNELS = Path("src/priory/kernels")
TEXT = (
    *("vocabulary", "utf8", "text", "pairs", "words", "word_scores"),
    *("markup", "messages", "telling"),
)
"""What `make fuzz` watches."""
SHARED = "priory.kernels._shared"
"""Cython's own code for memory views and the like, compiled once for all kernels."""

WINDOWS, LINUX = sys.platform == "win32", sys.platform == "linux"
# No -march: one build runs on every CPU, and clones.h picks AVX2 at run time. No -ffast-math and
# no contraction to fma: double-double sums need every operation rounded exactly as written.
# That nobody reads the floating-point traps or errno changes no result, and lets masks vectorise.
FLAGS = (
    ["/O2", "/std:c11"]
    if WINDOWS
    else ["-O3", "-g0", "-ffp-contract=off", "-fno-trapping-math", "-fno-math-errno"]
)
LINK = ["-Wl,--strip-all"] if LINUX else []
CORES = os.cpu_count() or 1

SANITIZE = bool(os.environ.get("PRIORY_SANITIZE"))
if SANITIZE:
    LINK = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    FLAGS = ["-O1", "-g", "-fno-omit-frame-pointer", *FLAGS[2:], *LINK]


class BuildInPlace(build_ext):
    """Compile an editable install again only where a kernel changed; setuptools starts anew."""

    def run(self):
        if self.inplace:
            self.build_lib, self.build_temp = "build/in-place/lib", "build/in-place/temp"
        super().run()


def headers(source):
    """Return the headers of ours that a file includes, and those that they include."""
    found = set()
    for name in re.findall(r'(?:#include|extern from) "(\w+\.h)"', source.read_text("utf-8")):
        if (KERNELS / name).exists():
            found |= {str(KERNELS / name)} | headers(KERNELS / name)
    return found


def extension(source):
    return Extension(
        f"priory.kernels.{source.stem}",
        [str(source)],
        depends=["setup.py", *sorted(headers(source))],
        include_dirs=[str(KERNELS), numpy.get_include()],
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
        extra_compile_args=FLAGS,
        extra_link_args=LINK,
    )


kernels = [
    extension(source)
    for source in sorted(KERNELS.glob("*.pyx"))
    if not SANITIZE or source.stem in TEXT
]
shared = Extension(
    SHARED, [str(KERNELS / "_shared.c")], extra_compile_args=FLAGS, extra_link_args=LINK
)

setup(
    ext_modules=cythonize(
        [*kernels, shared],
        build_dir="build/cython",
        include_path=["src"],
        shared_utility_qualified_name=SHARED,
        compiler_directives={
            "language_level": "3",
            "boundscheck": False,
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": False,
        },
        nthreads=CORES if LINUX else 0,  # others would run this file again
    ),
    cmdclass={"build_ext": BuildInPlace},
    options={"build_ext": {"parallel": CORES}},
)
