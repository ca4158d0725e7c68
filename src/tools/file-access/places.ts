/** What a sealed place keeps away: `secret` is neither read nor written, `program` is read but not written. */
export type Seal = "secret" | "program";

export interface SealedPlace {
  readonly path: string;
  readonly seal: Seal;
  /** Completes the sentence "it is sealed because it …". */
  readonly because: string;
}

type Row = readonly [seal: Seal, because: string, paths: string];

/**
 * Below every home folder. One row for each reason; paths are separated by blanks, and a folder stands for everything in it.
 * Programs read their start files and settings as code, so writing one of them is running a command later; reading them gives nothing away.
 */
const IN_HOME: readonly Row[] = [
  ["secret", "holds SSH keys and decides who may log in", ".ssh"],
  [
    "secret",
    "holds private keys and passwords",
    ".gnupg .password-store .local/share/keyrings .config/op .config/Bitwarden Library/Keychains .vault-token .age",
  ],
  [
    "secret",
    "holds credentials of a cloud",
    ".aws .azure .config/gcloud .boto .s3cfg .oci .config/doctl .config/hcloud .fly .config/rclone .databrickscfg .snowflake .config/wrangler .wrangler .config/.wrangler .config/stripe .terraformrc .terraform.d/credentials.tfrc.json",
  ],
  [
    "secret",
    "holds credentials of a code host",
    ".git-credentials .config/git/credentials .netrc _netrc .config/gh .config/hub .config/glab-cli .config/github-copilot",
  ],
  [
    "secret",
    "holds credentials of a package registry",
    ".npmrc .yarnrc .yarnrc.yml .config/pnpm .pypirc .pip .config/pip .cargo/credentials .cargo/credentials.toml .gem/credentials .composer/auth.json .config/composer/auth.json .m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties .nuget/NuGet .config/NuGet",
  ],
  ["secret", "holds credentials of containers and clusters", ".docker .kube .config/containers .config/helm"],
  ["secret", "holds credentials of a database", ".pgpass .my.cnf .mylogin.cnf .mongorc.js .config/redis"],
  [
    "secret",
    "holds the login of another agent program",
    ".claude/.credentials.json .claude.json .codex/auth.json .gemini/oauth_creds.json .qwen/oauth_creds.json .minimax .config/anthropic .config/openai",
  ],
  [
    "secret",
    "holds a browser's logins and cookies",
    ".mozilla .config/google-chrome .config/chromium .config/BraveSoftware .config/microsoft-edge .config/vivaldi .config/opera Library/Cookies Library/Safari Library/Application&Support/Google/Chrome Library/Application&Support/Firefox",
  ],
  [
    "program",
    "is run by a shell when it starts",
    ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .oh-my-zsh .kshrc .mkshrc .cshrc .tcshrc .login .logout .config/fish .config/nushell .config/powershell .inputrc .pam_environment .config/environment.d .config/direnv .direnvrc",
  ],
  [
    "program",
    "is run when a desktop session starts",
    ".config/autostart .config/autostart-scripts .config/plasma-workspace .xinitrc .xprofile .xsession .xsessionrc .xserverrc .config/sway .config/hypr .config/i3 .i3",
  ],
  [
    "program",
    "holds services that are started by themselves",
    ".config/systemd .local/share/systemd .local/share/dbus-1 .config/upstart .init Library/LaunchAgents Library/LaunchDaemons .config/cron .local/share/cron",
  ],
  [
    "program",
    "makes a program run commands",
    ".gitconfig .config/git .hgrc .config/hg .vimrc .vim .config/nvim .emacs .emacs.d .config/emacs .tmux.conf .config/tmux .screenrc .node_modules .node_libraries .cargo/config .cargo/config.toml .config/npm .pythonrc .pythonrc.py .gdbinit .lldbinit .mailcap",
  ],
];

/** Of the whole machine. */
const OF_MACHINE: readonly Row[] = [
  [
    "secret",
    "holds the passwords and keys of this machine",
    "/etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/security/opasswd /etc/ssl/private /etc/krb5.keytab /etc/NetworkManager/system-connections /etc/wireguard /etc/wpa_supplicant /private/etc/master.passwd /var/db/dslocal",
  ],
  ["secret", "holds secrets that were given to this container", "/run/secrets /var/run/secrets"],
  ["secret", "is the memory of this machine", "/proc/kcore /proc/kmem /dev/mem /dev/kmem"],
  [
    "program",
    "holds scheduled commands",
    "/etc/crontab /etc/crontabs /etc/anacrontab /etc/cron.d /etc/cron.hourly /etc/cron.daily /etc/cron.weekly /etc/cron.monthly /etc/cron.yearly /var/spool/cron /var/spool/at /var/spool/anacron /var/cron /var/at /etc/periodic",
  ],
  [
    "program",
    "holds services that are started by themselves",
    "/etc/systemd /lib/systemd /usr/lib/systemd /usr/local/lib/systemd /run/systemd /etc/init.d /etc/init /etc/rc.local /etc/rc.d /etc/rc0.d /etc/rc1.d /etc/rc2.d /etc/rc3.d /etc/rc4.d /etc/rc5.d /etc/rc6.d /etc/rcS.d /etc/inittab /etc/local.d /etc/runit /etc/sv /etc/s6 /etc/service /etc/supervisor /etc/supervisord.conf /etc/inetd.conf /etc/xinetd.d /Library/LaunchAgents /Library/LaunchDaemons /Library/StartupItems /System/Library /etc/dbus-1 /usr/share/dbus-1 /etc/udev /lib/udev /usr/lib/udev /etc/NetworkManager /etc/network /etc/dhcp /etc/logrotate.d /etc/logrotate.conf /etc/apt/apt.conf /etc/apt/apt.conf.d /etc/dpkg /etc/kernel /etc/modprobe.d /etc/modules-load.d /etc/initramfs-tools /etc/grub.d /boot",
  ],
  [
    "program",
    "is run by shells and sessions when they start",
    "/etc/profile /etc/profile.d /etc/bash.bashrc /etc/bashrc /etc/bash_completion.d /etc/zsh /etc/zshrc /etc/zshenv /etc/zprofile /etc/zlogin /etc/csh.cshrc /etc/csh.login /etc/fish /etc/environment /etc/environment.d /etc/X11 /etc/xdg /etc/skel /etc/update-motd.d /etc/inputrc /etc/gitconfig /etc/vim",
  ],
  [
    "program",
    "decides who may do what on this machine",
    "/etc/passwd /etc/group /etc/subuid /etc/subgid /etc/sudoers /etc/sudoers.d /etc/doas.conf /etc/pam.d /etc/pam.conf /etc/security /etc/polkit-1 /usr/share/polkit-1 /etc/ssh /etc/hosts.equiv /etc/nsswitch.conf /etc/ld.so.preload /etc/ld.so.conf /etc/ld.so.conf.d /etc/apparmor.d /etc/selinux",
  ],
  ["program", "is the system itself", "/proc /sys /bin /sbin /lib /lib32 /lib64 /usr/bin /usr/sbin /usr/lib /usr/libexec"],
];

/** Below `/proc/<pid>`: what says nothing but how a process fares. Everything else there can hold secrets. */
const HARMLESS_OF_PROCESS = /^(?:stat|statm|status|comm|limits|cgroup|mounts|mountinfo|mountstats|loginuid|oom_score|sched|schedstat|wchan|io|net|ns)(?:\/|$)/;
const OF_PROCESS = /^\/proc\/(?:\d+|self|thread-self)(?:\/task\/\d+)?(?:\/(.*))?$/;

/** Homes of people whom nobody told us about. */
const SOME_HOME = /^(?:\/root|\/var\/root|\/(?:home|Users)\/[^/]+)(?=\/|$)/;
/** State folders of this and of other profiles and of earlier names. */
const SOME_STATE = /^\.(?:openclaw(?:-[^/]+)?|clawdbot|moldbot|moltbot)$/;

const blank = (path: string): string => path.replaceAll("&", " ");
const rowsOf = (rows: readonly Row[]): readonly SealedPlace[] =>
  rows.flatMap(([seal, because, paths]) => paths.split(" ").map((path) => ({ path: blank(path), seal, because })));

/** The places below a home folder, by their path from there. */
const inHome = (): readonly SealedPlace[] => rowsOf(IN_HOME);
/** The places of the machine. */
export const ofMachine = (): readonly SealedPlace[] => rowsOf(OF_MACHINE);

/** Finds the sealed place of a path below a home folder, whether or not somebody lives there. */
export function createHomeSeals(homes: readonly string[]): (path: string) => SealedPlace | undefined {
  const places = new Map(inHome().map((place) => [place.path, place]));
  function within(home: string, path: string): SealedPlace | undefined {
    const parts = path.slice(home.length + 1).split("/");
    if (SOME_STATE.test(parts[0]!)) return { path: `${home}/${parts[0]}`, seal: "secret", because: "holds the state and the secrets of a gateway" };
    let at = "";
    for (const part of parts) {
      at = at === "" ? part : `${at}/${part}`;
      const place = places.get(at);
      if (place) return { ...place, path: `${home}/${at}` };
    }
    return undefined;
  }
  return (path) => {
    for (const home of homes)
      if (path.startsWith(`${home}/`)) {
        const place = within(home, path);
        if (place) return place;
      }
    const home = SOME_HOME.exec(path)?.[0];
    return home === undefined || home === path ? undefined : within(home, path);
  };
}

/** What a process keeps below `/proc`: its environment, its memory, its open files. */
export function sealOfProcess(path: string): SealedPlace | undefined {
  const found = OF_PROCESS.exec(path);
  if (!found?.[1] || HARMLESS_OF_PROCESS.test(found[1])) return undefined;
  return { path, seal: "secret", because: "shows the environment, the memory or the open files of a process" };
}
