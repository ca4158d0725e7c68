import { basename } from "node:path";
import { realPath } from "../../executables.ts";

/**
 * What kind of danger a program is:
 * `code`: it runs what its arguments, its input or a terminal says;
 * `project`: it runs what files of the working folder say, and agents write those;
 * `arguments`: some of its options, sub-commands or configuration files start other programs.
 */
export type RunnerKind = "code" | "project" | "arguments";

/** Programs that can start others. */
export interface Runner {
  readonly kind: RunnerKind;
  /** How, in the words of the approval: "git <why>". */
  readonly why: string;
  /** Files that decide what it runs, searched from the working folder upwards; `~/` is the home folder. They are pinned with a remembered command. */
  readonly reads?: readonly string[];
  /** A pinned file with this in it names programs: nothing is remembered then. */
  readonly names?: RegExp;
}

/**
 * The corpus: names (without version numbers), kind and reason. One line for each way of running something else; more programs of the same
 * kind go on the line they belong to.
 */
const TABLE: readonly (readonly [names: string, runner: Runner])[] = [
  [
    "sh bash dash zsh ksh mksh pdksh csh tcsh fish ash rsh yash elsh elvish nu xonsh pwsh powershell cmd rbash",
    { kind: "code", why: "runs any command line it is given" },
  ],
  [
    "python pypy pythonw node nodejs deno bun tsx ts-node perl ruby php lua luajit tclsh wish osascript java jshell groovy scala kotlin julia rscript r guile racket sbcl clisp ghci runghc erl elixir iex swipl octave gnuplot m4 dc jjs irb rebol janet fennel",
    { kind: "code", why: "runs any program text it is given" },
  ],
  ["awk gawk mawk nawk original-awk", { kind: "code", why: "programs have system() and pipes to commands" }],
  ["sed gsed", { kind: "code", why: "the commands e and w run programs and write files" }],
  [
    "ed ex vi vim nvim view rvim vimdiff emacs emacsclient nano pico micro joe helix hx kak",
    { kind: "code", why: "runs commands from its prompt and start files" },
  ],
  ["less more most man info lesspipe bat w3m lynx links elinks", { kind: "code", why: "runs commands from its prompt, and pagers and viewers" }],
  [
    "env nice ionice chrt taskset nohup setsid stdbuf unbuffer timeout gtimeout time watch entr script expect parallel xargs find fd fdfind flock chronic ts sponge retry run-parts start-stop-daemon setarch linux32 linux64 i386 prlimit numactl catchsegv choom cgexec rlwrap socat dumb-init tini catatonit proxychains proxychains4 torsocks torify faketime fakeroot fakechroot eatmydata datefudge",
    { kind: "code", why: "starts the program named by its arguments" },
  ],
  ["busybox toybox coreutils", { kind: "code", why: "is every program at once, shells included" }],
  ["strace ltrace gdb lldb perf valgrind rr bpftrace dtrace gcore", { kind: "code", why: "starts or enters other programs" }],
  [
    "sudo doas su runuser pkexec setpriv capsh chroot unshare nsenter bwrap firejail systemd-run machinectl systemd-nspawn newgrp sg run0 gosu su-exec",
    { kind: "code", why: "starts programs with other rights or in another root" },
  ],
  [
    "ssh sshpass mosh autossh rsh rlogin telnet nc ncat netcat dbclient plink",
    { kind: "code", why: "runs commands on other machines, or a ProxyCommand on this one" },
  ],
  [
    "scp sftp",
    { kind: "arguments", why: "-S and -o ProxyCommand start programs", reads: ["~/.ssh/config"], names: /proxycommand|localcommand|\bmatch\b.*exec/i },
  ],
  [
    "docker podman nerdctl kubectl oc crictl ctr lxc lxc-attach incus vagrant helm qemu flatpak snap distrobox toolbox minikube kind",
    { kind: "code", why: "runs commands in containers, with folders of this machine in them" },
  ],
  ["screen tmux byobu zellij dtach abduco", { kind: "code", why: "runs any command in its windows" }],
  ["at batch crontab anacron fcron", { kind: "code", why: "runs any command later" }],
  ["ld-linux ld.so ld-linux-x86-64.so ld-linux-aarch64.so ld-musl", { kind: "code", why: "loads the program named by its arguments" }],
  ["npm npx pnpm pnpx yarn yarnpkg bunx corepack volta fnm nvm", { kind: "code", why: "runs scripts of package.json and of packages" }],
  [
    "uv uvx pip pipx poetry pdm hatch rye conda mamba micromamba easy_install virtualenv pipenv",
    { kind: "code", why: "runs build and install scripts of packages" },
  ],
  [
    "make gmake bmake cmake ctest cpack ninja meson scons bazel bazelisk buck buck2 just task rake ant mvn mvnw gradle gradlew sbt lein cargo go dotnet msbuild xcodebuild swift stack cabal mix rebar3 dune opam zig nimble nim dub crystal shards waf tup jake gulp grunt nx turbo lerna bundle bundler gem composer phpunit artisan rails pod fastlane ansible ansible-playbook terraform tofu terragrunt pulumi packer sls cdk act earthly dagger skaffold tilt",
    { kind: "project", why: "runs what files of its folder say, and agents write those" },
  ],
  [
    "pytest py.test tox nox jest vitest mocha ava karma cypress playwright webpack vite rollup esbuild parcel eslint prettier stylelint tsc babel next nuxt gatsby astro svelte-kit storybook pre-commit husky lefthook mypy pylint flake8 black sphinx-build jupyter ipython pdb coverage rspec cucumber bats shellspec",
    { kind: "project", why: "loads configuration and code from its folder, and agents write those" },
  ],
  [
    "git hg svn bzr fossil jj darcs cvs pijul git-lfs tig lazygit gitk git-annex",
    { kind: "project", why: "runs what aliases, hooks and the configuration of repositories and their submodules say, and agents write those" },
  ],
  ["gh glab hub", { kind: "code", why: "aliases and extensions run programs" }],
  ["tar gtar bsdtar star", { kind: "arguments", why: "--checkpoint-action, --to-command, -I, -F and --rsh-command start programs" }],
  ["cpio pax", { kind: "arguments", why: "--rsh-command starts a program" }],
  ["zip unzip", { kind: "arguments", why: "-TT starts a program" }],
  ["7z 7za 7zr rar unrar ar", { kind: "arguments", why: "unpacks over any file and reads options from files" }],
  ["rsync", { kind: "arguments", why: "-e and --rsync-path start programs" }],
  ["sqlite3 sqlite", { kind: "arguments", why: ".shell, .system and load_extension run programs", reads: ["~/.sqliterc"], names: /./ }],
  [
    "psql mysql mariadb mongosh mongo redis-cli cqlsh sqlplus duckdb usql clickhouse clickhouse-client influx isql",
    { kind: "code", why: "its prompt has commands that run programs (\\!, system, shell)" },
  ],
  [
    "gcc g++ cc c++ clang clang++ tcc icc gfortran gccgo gnat cpp ccache distcc sccache",
    { kind: "arguments", why: "-wrapper, plugins, -specs and @files start programs" },
  ],
  [
    "ld gold lld mold as ldconfig nasm rustc javac kotlinc scalac ghc ocamlopt ocamlc fpc ldc2 dmd valac nvcc swiftc",
    { kind: "arguments", why: "plugins, linkers and processors named by options are run" },
  ],
  [
    "dpkg dpkg-deb dpkg-buildpackage debuild rpm rpmbuild alien apk pacman makepkg yay paru xbps-install emerge nix nix-shell nix-env nix-build guix brew port snapcraft installer",
    { kind: "arguments", why: "packages bring scripts that run, and options name hooks" },
  ],
  [
    "apt apt-get aptitude dnf yum microdnf zypper tdnf unattended-upgrade apt-key add-apt-repository",
    { kind: "arguments", why: "-o sets hooks that run, and packages bring scripts" },
  ],
  [
    "systemctl service initctl rc-service loginctl launchctl supervisorctl pm2 monit s6-rc sv",
    { kind: "arguments", why: "starts services, and edit starts an editor" },
  ],
  ["journalctl networkctl resolvectl hostnamectl timedatectl coredumpctl", { kind: "arguments", why: "starts a pager" }],
  ["ip tc bridge", { kind: "arguments", why: "netns exec starts a program" }],
  ["tcpdump dumpcap tshark nmap masscan ettercap bettercap", { kind: "arguments", why: "-z and scripts start programs" }],
  ["curl", { kind: "arguments", why: "-K reads options from a file, and -o writes any file", reads: ["~/.curlrc"] }],
  [
    "wget aria2c axel youtube-dl yt-dlp lftp ftp",
    { kind: "arguments", why: "--use-askpass, --exec, hooks and its configuration start programs", reads: ["~/.wgetrc"] },
  ],
  ["openssl", { kind: "arguments", why: "-engine and -provider load code" }],
  ["gpg gpg2 gpgsm pinentry age sops pass", { kind: "arguments", why: "--photo-viewer, --exec-path and agents start programs" }],
  ["ffmpeg ffprobe ffplay mpv mplayer vlc cvlc sox", { kind: "arguments", why: "options and lists name files to write and scripts to load" }],
  [
    "convert magick mogrify identify montage gm gs ghostscript rsvg-convert inkscape gimp blender libreoffice soffice pandoc pdflatex lualatex xelatex latex tex latexmk bibtex context asy dot graphviz wkhtmltopdf chromium google-chrome chrome firefox",
    { kind: "arguments", why: "filters, delegates, macros and \\write18 run programs" },
  ],
  ["mail mailx mutt neomutt sendmail msmtp exim procmail fetchmail", { kind: "arguments", why: "~! and its configuration run programs", reads: ["~/.mailrc"] }],
  ["rg", { kind: "arguments", why: "--pre and --hostname-bin start programs", reads: ["~/.ripgreprc"] }],
  ["ag ack", { kind: "arguments", why: "--pager starts a program", reads: [".ackrc", "~/.ackrc"] }],
  ["sort gsort", { kind: "arguments", why: "--compress-program starts a program" }],
  ["split csplit gsplit", { kind: "arguments", why: "--filter starts a program" }],
  ["diff sdiff diff3 patch", { kind: "arguments", why: "-e scripts, --diff-program and --paginate start programs" }],
  ["install", { kind: "arguments", why: "--strip-program starts a program" }],
  ["mount umount insmod modprobe visudo update-alternatives", { kind: "arguments", why: "starts helpers, or loads code into the system" }],
  [
    "ctags etags cscope pkg-config autoconf automake autoreconf libtool configure",
    { kind: "arguments", why: "options and files of the folder name programs that are run" },
  ],
  ["xdg-open open gio gnome-open kde-open start explorer see run-mailcap mimeopen", { kind: "code", why: "starts whatever program is meant for a file" }],
  ["jq yq xq gron mlr fx dasel", { kind: "arguments", why: "reads the environment and modules" }],
  [
    "aws gcloud az doctl flyctl fly heroku vercel netlify wrangler firebase supabase op vault",
    { kind: "arguments", why: "plugins, aliases, credential helpers and its configuration run programs" },
  ],
  ["openclaw claude codex gemini aider opencode goose cursor-agent copilot llm ollama", { kind: "code", why: "starts agents and commands of their own" }],
];

/** Names with version numbers (`python3.12`, `gcc-13`, `lua5.4`, `ld-linux-x86-64.so.2`) count as the name without one. */
const BY_NAME: ReadonlyMap<string, Runner> = new Map(TABLE.flatMap(([names, runner]) => names.split(" ").map((name) => [name, runner] as const)));
const COMPILER_PREFIX = /^(?:[a-z0-9_]+-)+(?=(?:gcc|g\+\+|cc|c\+\+|ld|as|ar|clang|clang\+\+|cpp)(?:-[\d.]+)?$)/;

function byName(name: string): Runner | undefined {
  const low = name.toLowerCase().replace(/\.(?:exe|com|bat|cmd)$/, "");
  const plain = low.replace(/[-.]?\d+(?:\.\d+)*[a-z]?$/, "");
  return [low, plain, plain.replace(/w$/, ""), plain.replace(COMPILER_PREFIX, "")].map((one) => BY_NAME.get(one)).find((found) => found !== undefined);
}

/** The runner that a program is, by the name it is called by or by the file it really is; undefined for all others. */
export function runnerOf(path: string): Runner | undefined {
  const named = byName(basename(path));
  if (named) return named;
  const target = basename(realPath(path));
  // Of a multi-call binary it is the name it is called by that decides.
  return /^(?:busybox|toybox|coreutils)/i.test(target) ? undefined : byName(target);
}

/** A program of the corpus by the name that a script calls it by; data programs whose arguments alone are dangerous do not count. */
export function runnerNamed(name: string): Runner | undefined {
  const found = byName(basename(name));
  return found?.kind === "arguments" ? undefined : found;
}

/** How many programs the corpus knows. */
export const knownRunners = (): readonly string[] => [...BY_NAME.keys()];
