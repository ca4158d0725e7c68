import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { basename, delimiter, isAbsolute, join, resolve } from "node:path";

/** Work inside the shell itself: no file stands for them. */
const SHELL_WORDS = new Set(
  (
    ". : alias autoload bg bind break builtin caller cd chdir command compgen complete compopt continue declare dirs disown emulate enable eval exec exit export fc fg getopts hash " +
    "help history jobs let local logout mapfile popd pushd read readarray readonly return set setopt shift shopt source suspend times trap type typeset ulimit umask unalias unset wait whence where which-command zmodload"
  ).split(" "),
);

/** Programs whose arguments are programs: their own name does not say what they run. */
const CARRIERS =
  /^(?:(?:ba|da|z|k|mk|pdk|c|tc|fi|a|r|ya|ela|el|nu|xon)?sh(?:[\d.]*)|nu|pwsh|powershell|cmd|env|busybox|toybox|coreutils|xargs|parallel|find|fd|fdfind|nice|ionice|chrt|taskset|nohup|setsid|stdbuf|timeout|gtimeout|time|watch|entr|script|expect|strace|ltrace|gdb|lldb|perf|sudo|doas|su|runuser|pkexec|chroot|unshare|nsenter|bwrap|firejail|systemd-run|flock|ssh|docker|podman|kubectl|screen|tmux|(?:python|pypy)[\d.]*w?|node|nodejs|deno|bun|bunx|npx|npm|pnpm|yarn|tsx|ts-node|uv|uvx|pipx|perl[\d.]*|ruby[\d.]*|php[\d.]*|lua[\d.]*|luajit|tclsh[\d.]*|wish|osascript|java|[gmn]?awk|g?sed|ed|ex|vi|vim|nvim|view|emacs|less|more|man|at|batch|crontab|ld(?:-linux[-\w.]*|\.so[\d.]*))$/i;

/** True when the word is done by the shell and resolved to no file. */
export function isShellWord(word: string): boolean {
  return SHELL_WORDS.has(word);
}

/** True for shells, interpreters and wrappers: `always` is never remembered for them, and a wildcard never covers them. */
export function isCarrier(path: string): boolean {
  if (CARRIERS.test(basename(path))) return true;
  const target = basename(realPath(path));
  // Of a multi-call binary it is the name it is called by that decides.
  return !/^(?:busybox|toybox|coreutils)/i.test(target) && CARRIERS.test(target);
}

/** The file behind links; the path itself when it is not there. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** The file that runs for a first word: from the working folder when it has a slash, else the first on PATH. */
export function resolveExecutable(word: string, cwd: string, path: string): string | undefined {
  if (isShellWord(word)) return undefined;
  if (word.includes("/")) return isExecutable(resolve(cwd, word)) ? resolve(cwd, word) : undefined;
  for (const folder of path.split(delimiter)) {
    if (isAbsolute(folder) && isExecutable(join(folder, word))) return join(folder, word);
  }
  return undefined;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
