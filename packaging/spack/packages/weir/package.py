# Spack recipe of weir: `make dist`, then `spack repo add packaging/spack` and `spack install --no-checksum weir`.

import os

from spack.package import *


class Weir(MakefilePackage):
    """Lua-scriptable resource engine: it models a machine as a graph of resource pools, and finds, allocates, reserves
    and releases parts of it for jobs, by placement and queue policies in Lua."""

    license("MIT")

    # The tarball that `make dist` writes, or a copy of it at a mirror.
    version("0.1.0", url="file://" + os.path.abspath(os.path.join(os.path.dirname(__file__), *[".."] * 4, "build", "weir-0.1.0.tar.gz")))

    variant("serve", default=True, description="Build weir-serve and weir-flux, too")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("lua@5.4", type=("build", "link", "run"))
    depends_on("jansson")
    depends_on("hwloc@2:")
    depends_on("libyaml")
    depends_on("expat")
    depends_on("yajl")
    depends_on("sqlite@3.36:")
    depends_on("libedit")
    depends_on("openssl@3:", when="+serve")
    depends_on("curl", when="+serve")
    depends_on("lua-luv", when="+serve", type="run")

    def options(self):
        """Arguments of make: where to install, which Lua, which of weir's packages."""
        lua = self.spec["lua"]
        packages = "weir weir-sim" + (" weir-serve weir-flux" if "+serve" in self.spec else "")
        return [
            f"PREFIX={self.prefix}",
            f"LIBDIR={self.prefix.lib}",
            f"LUA={lua.command.path}",
            f"LUA_CFLAGS={lua.headers.include_flags}",
            f"LUA_LINK={lua.libs.ld_flags}",
            f"PACKAGES={packages}",
            "FLUX=",
        ]

    def build(self, spec, prefix):
        make("build", *self.options())

    def install(self, spec, prefix):
        make("install", *self.options())

    def setup_run_environment(self, env):
        env.prepend_path("LUA_PATH", f"{self.prefix}/share/lua/5.4/?.lua;{self.prefix}/share/lua/5.4/?/init.lua", separator=";")
        env.prepend_path("LUA_CPATH", f"{self.prefix.lib}/lua/5.4/?.so", separator=";")

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        weir = Executable(os.path.join(self.prefix.bin, "weir"))
        weir("match", "-r", "cluster:1 node:2 core:4", "slot=2/node")
