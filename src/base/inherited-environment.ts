type Env = Readonly<Record<string, string | undefined>>;

/**
 * Variables that commands inherit from the gateway: locations and preferences that common shells, desktops and toolchains use.
 * Everything else is withheld, so that an unexpected token does not reach every command. Upper case; `*` matches any suffix.
 */
const PASSED = `
  PATH PWD OLDPWD HOME USER LOGNAME USERNAME SHELL HOSTNAME HOSTTYPE MACHTYPE OSTYPE SHLVL UID EUID EDITOR VISUAL PAGER LESS LESSCHARSET MANPATH INFOPATH BROWSER
  LANG LANGUAGE LC_* TZ TZDIR LOCALE_ARCHIVE TERM TERMINFO TERMINFO_DIRS TERM_PROGRAM TERM_PROGRAM_VERSION COLORTERM COLUMNS LINES NO_COLOR FORCE_COLOR CLICOLOR
  CLICOLOR_FORCE LS_COLORS CI TMPDIR TMP TEMP DEBIAN_FRONTEND
  HTTP_PROXY HTTPS_PROXY FTP_PROXY ALL_PROXY NO_PROXY SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE CURL_CA_BUNDLE GIT_SSL_CAINFO NIX_SSL_CERT_FILE
  SSH_AUTH_SOCK SSH_AGENT_PID GPG_TTY DISPLAY WAYLAND_DISPLAY XAUTHORITY XDG_* DBUS_SESSION_BUS_ADDRESS DESKTOP_SESSION WSL_DISTRO_NAME WSL_INTEROP
  JAVA_HOME JDK_HOME M2_HOME MAVEN_HOME GRADLE_HOME GRADLE_USER_HOME ANDROID_HOME ANDROID_SDK_ROOT GOPATH GOROOT GOBIN GOCACHE GOMODCACHE GOPROXY CARGO_HOME RUSTUP_HOME
  RUSTUP_TOOLCHAIN NVM_DIR NVM_BIN NVM_INC FNM_DIR FNM_MULTISHELL_PATH VOLTA_HOME PNPM_HOME BUN_INSTALL DENO_DIR DENO_INSTALL N_PREFIX NODE_ENV COREPACK_HOME
  PYENV_ROOT PYENV_VERSION VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV CONDA_EXE CONDA_PYTHON_EXE PIPX_HOME UV_CACHE_DIR POETRY_HOME PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE
  RBENV_ROOT RBENV_VERSION GEM_HOME GEM_PATH BUNDLE_PATH RVM_PATH SDKMAN_DIR ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR HOMEBREW_PREFIX HOMEBREW_CELLAR HOMEBREW_REPOSITORY
  NIX_PATH NIX_PROFILES DOTNET_ROOT PKG_CONFIG_PATH CC CXX CFLAGS CXXFLAGS LDFLAGS CUDA_HOME CUDA_PATH CUDA_VISIBLE_DEVICES OMP_NUM_THREADS OPAMROOT JULIA_DEPOT_PATH
  FONTCONFIG_FILE FONTCONFIG_PATH PLAYWRIGHT_BROWSERS_PATH PUPPETEER_EXECUTABLE_PATH CHROME_BIN
  AWS_PROFILE AWS_DEFAULT_PROFILE AWS_REGION AWS_DEFAULT_REGION GOOGLE_CLOUD_PROJECT CLOUDSDK_CORE_PROJECT KUBECONFIG DOCKER_HOST DOCKER_CONTEXT
  GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_EDITOR GIT_TERMINAL_PROMPT
  OPENCLAW_HOME OPENCLAW_STATE_DIR OPENCLAW_CONFIG_PATH OPENCLAW_PROFILE OPENCLAW_GATEWAY_PORT
  SYSTEMROOT WINDIR COMSPEC PATHEXT APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES* COMMONPROGRAMFILES* PROGRAMW6432 USERPROFILE HOMEDRIVE HOMEPATH USERDOMAIN
  COMPUTERNAME OS NUMBER_OF_PROCESSORS PROCESSOR_* SYSTEMDRIVE PUBLIC ALLUSERSPROFILE PREFIX ANDROID_ROOT ANDROID_DATA
`;

/** Marks a variable as secret wherever it appears in the name. */
const SECRET_NAME = /(?:^|_)(?:TOKENS?|SECRETS?|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|(?:API_?|PRIVATE_?|ACCESS_?|SIGNING_?)KEYS?)(?:_|$)/;

interface Names {
  readonly whole: ReadonlySet<string>;
  readonly beginnings: readonly string[];
}

function namesOf(entries: readonly string[]): Names {
  const upper = entries.map((entry) => entry.trim().toUpperCase()).filter((entry) => entry !== "" && entry !== "*");
  return {
    whole: new Set(upper.filter((entry) => !entry.endsWith("*"))),
    beginnings: upper.filter((entry) => entry.endsWith("*")).map((entry) => entry.slice(0, -1)),
  };
}

const has = ({ whole, beginnings }: Names, name: string): boolean => whole.has(name) || beginnings.some((beginning) => name.startsWith(beginning));

const USUAL = namesOf(PASSED.split(/\s+/));

/** Whether commands inherit a variable of the gateway. `passEnv` is `tools.exec.passEnv`; a bare `*` is ignored. */
function isInherited(name: string, passed: Names): boolean {
  const upper = name.toUpperCase();
  return has(passed, upper) || (has(USUAL, upper) && !SECRET_NAME.test(upper));
}

/** The environment that a command inherits. Variables set by a call, a skill or a plugin are added to it. */
export function inheritedEnvironment(env: Env, passEnv: readonly string[] = []): Readonly<Record<string, string>> {
  const passed = namesOf(passEnv);
  return Object.fromEntries(Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined && isInherited(pair[0], passed)));
}

/** Marks a value as secret at the end of a name, but is too weak to withhold the variable from commands. */
const SECRET_ENDING = /(?:^|_)(?:KEYS?|PAT|PASS|AUTH|DSN|WEBHOOK)(?:_\d+)?$/;

/** A URL with user and password, anywhere in a text. Proxies are also written without a scheme. */
const WITH_PASSWORD = /(?:[a-z][a-z0-9+.-]*:\/\/)([^/@\s:,]+):([^/@\s,]+)@|^([^/@\s:,]+):([^/@\s,]+)@/gi;

/** The credentials of every URL in a value: the pair, base64-encoded as in a header, and the password, both percent-encoded and decoded. */
function credentialsIn(value: string): readonly string[] {
  return [...value.matchAll(WITH_PASSWORD)].flatMap(([, user = "", password = "", plainUser = "", plainPassword = ""]) => {
    const [name, secret] = [user || plainUser, password || plainPassword];
    return [`${name}:${secret}@`, ...[`${name}:${secret}`, secret].flatMap((text) => [text, decoded(text)])];
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Values of variables that are secret by name, and the credentials of URLs in all others: commands inherit proxies with their passwords. */
export function secretValues(env: Env): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    const upper = name.toUpperCase();
    if (value === undefined || value === "") return [];
    const credentials = credentialsIn(value);
    const isSecret = !has(USUAL, upper) && (SECRET_NAME.test(upper) || SECRET_ENDING.test(upper));
    return isSecret || credentials.length > 0 ? [...new Set([value, ...credentials])] : [];
  });
}

/** Names of variables that are set here and that commands do not inherit. */
export function withheldNames(env: Env, passEnv: readonly string[] = []): readonly string[] {
  const passed = namesOf(passEnv);
  return Object.entries(env).flatMap(([name, value]) => (value === undefined || value === "" || isInherited(name, passed) ? [] : [name]));
}
