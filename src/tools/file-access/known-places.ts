import type { Seal } from "./places.ts";

/** One reason for sealing, and the paths that it holds for. */
export type KnownPlaces = readonly [seal: Seal, because: string, paths: string];

/**
 * Below every home folder. Paths are separated by blanks; `&` stands for a blank in a name and `*` for anything within one name. A folder stands for
 * everything in it. Programs read their start files and settings as code, so writing one of them is running a command later; reading them gives nothing away.
 */
export const IN_HOME: readonly KnownPlaces[] = [
  ["secret", "holds SSH keys and decides who may log in", `.ssh .putty .config/dropbear`],
  [
    "secret",
    "holds private keys and passwords",
    `.gnupg .password-store .local/share/pass .local/share/gopass .local/share/gnupg .local/share/keyrings .local/share/kwalletd .kde/share/apps/kwallet .kde4/share/apps/kwallet
    .config/op .op .config/1Password .config/Bitwarden .config/Bitwarden&CLI .config/keepassxc .cache/keepassxc .keepass .lastpass .local/share/lpass .config/lpass .vault-token .vault_pass .ansible_vault_pass
    .age .config/age .config/sops .sops .config/borg .config/restic .borgmatic .step .acme.sh .pki .config/letsencrypt .eyaml .config/wireguard .config/rbw .local/share/rbw .cache/rbw Library/Application&Support/rbw .ansible/vault_pass* .ansible/vault-pass* .vault_pass.txt .vault-password .vagrant.d/insecure_private_key* .config/atuin/key
    Library/Keychains Library/Application&Support/sops Library/Application&Support/1Password Library/Application&Support/Bitwarden AppData/Roaming/Microsoft/Credentials AppData/Local/Microsoft/Credentials AppData/Roaming/Microsoft/Protect AppData/Roaming/Microsoft/Crypto AppData/Local/Microsoft/Vault AppData/Roaming/sops AppData/Roaming/Bitwarden`,
  ],
  [
    "secret",
    "holds credentials of a cloud",
    `.aws .azure .config/gcloud .boto .s3cfg .oci .bluemix .aliyun .tccli .config/doctl .config/hcloud .config/linode-cli .config/scw .config/civo .civo.json .config/vultr-cli.yaml .vultr-cli.yaml .config/exoscale .ovh.conf .fly .config/rclone .rclone.conf .mc/config.json .mcli .config/mc/config.json .config/mcli .databrickscfg .snowflake .snowsql .bigqueryrc
    .config/wrangler .wrangler .config/.wrangler .cloudflared .config/cloudflared .config/stripe .config/firebase .config/configstore .config/heroku .config/supabase .supabase/access-token .railway .config/railway .config/render .config/planetscale .config/turso .config/ngrok .ngrok2 .terraformrc .terraform.d/credentials.tfrc.json .pulumi/credentials.json .config/pulumi .chef .sentryclirc .config/sentry
    .local/share/com.vercel.cli .config/com.vercel.cli .vercel/auth.json .now .config/netlify .netlify .huggingface .cache/huggingface/token .cache/huggingface/stored_tokens .config/huggingface .kaggle .config/kaggle .config/wandb .modal.toml .replicate .config/replicate .runpod .lambda .vast_api_key .config/vastai .expo/state.json .dropbox Library/Dropbox AppData/Local/Dropbox
    Library/Application&Support/com.vercel.cli Library/Preferences/netlify Library/Application&Support/ngrok Library/Application&Support/rclone AppData/Roaming/gcloud AppData/Roaming/com.vercel.cli/auth.json AppData/Roaming/netlify AppData/Roaming/rclone AppData/Roaming/xdg.data/com.vercel.cli`,
  ],
  [
    "secret",
    "holds secrets that programs are started with",
    `.env .env.* .doppler .config/doppler .infisical .config/infisical .config/chamber .config/teller .teller.yml .config/dotenv-vault .config/akeyless .akeyless`,
  ],
  [
    "secret",
    "holds credentials of a code host",
    `.git-credentials .config/git/credentials .netrc _netrc .netrc.gpg .authinfo .authinfo.gpg .config/gh .config/hub .config/glab-cli .config/tea .config/lab .config/github-copilot .subversion/auth .config/Atlassian .jira.d .config/.jira .config/jira .config/linear .linear AppData/Roaming/GitHub&CLI AppData/Roaming/Subversion/auth Library/Application&Support/GitHub&CLI`,
  ],
  [
    "secret",
    "holds credentials of a package registry",
    `.npmrc .yarnrc .yarnrc.yml .config/pnpm .pypirc .pip .config/pip .config/pypoetry/auth.toml .cargo/credentials .cargo/credentials.toml .gem/credentials .local/share/gem/credentials .composer/auth.json .config/composer/auth.json .m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties .nuget/NuGet .config/NuGet .nuget/plugins-cache .hex .condarc .config/conda
    Library/Preferences/pnpm Library/Application&Support/pypoetry/auth.toml AppData/Roaming/NuGet AppData/Roaming/pypoetry/auth.toml AppData/Roaming/pip`,
  ],
  [
    "secret",
    "holds credentials of containers and clusters",
    `.docker .kube .config/containers .config/helm .config/argocd .config/k9s .minikube .rancher .config/podman .helm Library/Preferences/helm`,
  ],
  [
    "secret",
    "holds credentials of a database",
    `.pgpass .pg_service.conf .my.cnf .mylogin.cnf .mongorc.js .config/redis .dbeaver .local/share/DBeaverData .config/pgcli .config/pgadmin .pgadmin AppData/Roaming/postgresql Library/DBeaverData`,
  ],
  [
    "secret",
    "holds the login of another agent program",
    `.claude/.credentials.json .claude.json .codex/auth.json .gemini/oauth_creds.json .qwen/oauth_creds.json .minimax .config/anthropic .anthropic .config/openai .openai .local/share/opencode/auth.json .config/opencode/auth.json .config/goose .config/io.datasette.llm/keys.json .config/aichat .continue .aider.conf.yml .codeium .ollama/id_ed25519 .grok .config/litellm .cody .config/cagent .local/share/kiro-cli .local/share/amp`,
  ],
  [
    "secret",
    "holds keys that servers of tools are started with",
    `.cursor/mcp.json .mcp.json .vscode/mcp.json .config/Claude/claude_desktop_config.json .config/Code/User/mcp.json .config/Cursor/User/mcp.json .gemini/settings.json .config/opencode/opencode.json .config/opencode/opencode.jsonc .kiro/settings/mcp.json .aws/amazonq/mcp.json .copilot/mcp-config.json .roo/mcp.json .config/mcp
    Library/Application&Support/Claude/claude_desktop_config.json Library/Application&Support/Code/User/mcp.json Library/Application&Support/Cursor/User/mcp.json AppData/Roaming/Claude/claude_desktop_config.json AppData/Roaming/Code/User/mcp.json AppData/Roaming/Cursor/User/mcp.json`,
  ],
  [
    "secret",
    "holds a browser's logins and cookies",
    `.mozilla .librewolf .waterfox .config/google-chrome .config/google-chrome-beta .config/chromium .config/BraveSoftware .config/microsoft-edge .config/vivaldi .config/opera snap/firefox snap/chromium .var/app/org.mozilla.firefox .var/app/com.google.Chrome .var/app/org.chromium.Chromium .var/app/com.brave.Browser .local/share/epiphany .config/qutebrowser .local/share/qutebrowser
    Library/Cookies Library/Safari Library/Containers/com.apple.Safari Library/Application&Support/Google/Chrome Library/Application&Support/Chromium Library/Application&Support/BraveSoftware Library/Application&Support/Microsoft&Edge Library/Application&Support/Arc Library/Application&Support/Firefox
    AppData/Local/Google/Chrome AppData/Local/Chromium AppData/Local/Microsoft/Edge AppData/Local/BraveSoftware AppData/Roaming/Mozilla AppData/Roaming/Opera&Software AppData/Local/Vivaldi`,
  ],
  [
    "secret",
    "holds mail, messages and the logins of a messenger",
    `.thunderbird .icedove .mozilla-thunderbird .config/evolution .local/share/evolution .config/geary .config/mutt .mutt .muttrc .config/neomutt .neomuttrc .msmtprc .config/msmtp .mbsyncrc .config/isyncrc .offlineimaprc .config/offlineimap .fetchmailrc .getmail .config/himalaya .config/aerc
    .config/Slack .config/discord .config/discordcanary .config/vesktop .config/Signal .config/Signal&Beta .config/Element .config/Microsoft/Microsoft&Teams .config/teams-for-linux .config/Mattermost .config/Rocket.Chat .config/zoomus.conf .zoom .config/Skype .config/skypeforlinux .local/share/TelegramDesktop .config/whatsapp-for-linux .purple .config/hexchat .weechat .config/weechat .irssi .config/gajim .local/share/signal-cli .local/share/gurk
    snap/slack snap/discord snap/thunderbird .var/app/com.slack.Slack .var/app/com.discordapp.Discord .var/app/org.signal.Signal .var/app/org.telegram.desktop .var/app/org.mozilla.Thunderbird
    Library/Thunderbird Library/Mail Library/Messages Library/Application&Support/Slack Library/Application&Support/discord Library/Application&Support/Signal Library/Application&Support/Element Library/Application&Support/Telegram&Desktop Library/Group&Containers
    AppData/Roaming/Thunderbird AppData/Roaming/Slack AppData/Roaming/discord AppData/Roaming/Signal AppData/Roaming/Element AppData/Roaming/Telegram&Desktop AppData/Local/Packages`,
  ],
  [
    "secret",
    "holds a wallet",
    `.bitcoin .litecoin .dogecoin .dashcore .zcash .config/zcash .bitmonero .monero Monero .electrum .electrum-ltc .ethereum .eth .config/solana .sui .aptos .near-credentials .config/.near-credentials .foundry/keystores .brownie/accounts .starkli-wallets .starknet_accounts .cardano .lnd .lightning .sparrow .config/Exodus .config/atomic .config/Ledger&Live .config/Trezor&Suite .config/@trezor .wasabiwallet .walletwasabi .armory .bisq .local/share/Bisq .multidoge .config/keplr
    Library/Application&Support/Bitcoin Library/Application&Support/Electrum Library/Application&Support/Exodus Library/Application&Support/Ledger&Live Library/Application&Support/Litecoin Library/Ethereum AppData/Roaming/Bitcoin AppData/Roaming/Electrum AppData/Roaming/Exodus AppData/Roaming/Ethereum AppData/Roaming/Litecoin AppData/Roaming/Ledger&Live AppData/Roaming/Zcash`,
  ],
  [
    "secret",
    "lets programs into a desktop session or another machine",
    `.Xauthority .ICEauthority .serverauth.* .xauth* .vnc .config/tigervnc .config/rustdesk .config/remmina .local/share/remmina .remmina .config/freerdp .config/AnyDesk .anydesk .config/teamviewer .filezilla .config/filezilla .smbcredentials .cifs .davfs2 .k5login .local/share/jupyter/runtime .jupyter/migrated .config/kdeconnect .android/adbkey .local/share/waydroid AppData/Roaming/FileZilla AppData/Roaming/AnyDesk Library/Application&Support/FileZilla`,
  ],
  [
    "secret",
    "keeps what was typed, passwords included",
    `.*_history .*_history-* .*-history .history .histfile .zhistory .sh_history .Rhistory .lesshst .viminfo .local/share/fish .local/share/nushell .local/state/bash .local/state/zsh .local/share/atuin .local/share/mcfly .config/mcfly .bash_sessions .zsh_sessions .local/share/powershell .local/state/python_history .local/state/node_repl_history .node_repl_history .ipython/profile_default/history.sqlite .config/nushell/history.txt .config/nushell/history.sqlite3 .config/litecli/history .config/pgcli/history .config/mycli/history .local/share/nvim/shada .local/state/nvim/shada AppData/Roaming/Microsoft/Windows/PowerShell/PSReadLine`,
  ],
  [
    "program",
    "is run by a shell when it starts",
    `.bashrc .bashrc.d .bash_profile .bash_login .bash_logout .bash_aliases .bash_functions .bash_completion .bash_completion.d .local/share/bash-completion .config/bash .profile .profile.d .zshrc .zshrc.d .zshenv .zprofile .zlogin .zlogout .zsh .zfunc .config/zsh .oh-my-zsh .oh-my-bash .bash_it .zinit .local/share/zinit .antigen .p10k.zsh .config/starship.toml .kshrc .mkshrc .cshrc .tcshrc .login .logout .config/fish .config/nushell .config/elvish .elvish .config/xonsh .xonshrc .config/powershell .inputrc .editrc .pam_environment .config/environment.d .config/direnv .direnvrc .envrc .config/atuin
    Documents/PowerShell Documents/WindowsPowerShell`,
  ],
  [
    "program",
    "is run when a desktop session starts",
    `.config/autostart .config/autostart-scripts .config/plasma-workspace .xinitrc .xprofile .xsession .xsessionrc .xserverrc .Xresources .Xdefaults .Xmodmap .xbindkeysrc .config/sway .config/hypr .config/i3 .i3 .config/awesome .config/bspwm .config/sxhkd .config/qtile .config/openbox .config/river .config/niri .config/herbstluftwm .config/xmonad .xmonad .fluxbox .config/polybar .config/waybar .config/i3status .config/dunst .config/autorandr .local/share/applications .local/share/gnome-shell .local/share/plasma .local/share/cinnamon .local/share/nautilus .config/kwinrc
    .hammerspoon .config/karabiner .skhdrc .config/skhd .yabairc .config/yabai .aerospace.toml .config/aerospace Library/Scripts Library/Services Library/Input&Methods AppData/Roaming/Microsoft/Windows/Start&Menu`,
  ],
  [
    "program",
    "holds services that are started by themselves",
    `.config/systemd .local/share/systemd .local/share/dbus-1 .config/upstart .init .config/s6 .config/runit .config/supervisor .config/pm2 .pm2 Library/LaunchAgents Library/LaunchDaemons Library/PreferencePanes .config/cron .local/share/cron .config/tmpfiles.d .config/user-tmpfiles.d .config/binfmt.d`,
  ],
  [
    "program",
    "holds programs that are started by their names",
    `.local/bin .local/sbin bin .bin sbin go/bin .go/bin .cargo/bin .cargo/env .rustup .deno .bun .local/share/pnpm .npm-global .npm-packages .yarn/bin .config/yarn/global .composer/vendor .config/composer/vendor .gem/ruby .local/share/gem/ruby .dotnet/tools .krew .ghcup .cabal/bin .stack/programs .opam .mix .nimble .luarocks .pub-cache/bin .emacs.d/bin .local/opt .local/pipx .local/share/pipx .local/share/uv .linuxbrew .nix-profile .nix-defexpr .config/nix .config/nixpkgs .config/home-manager .local/state/nix .guix-profile .config/guix .config/flatpak .local/share/flatpak/exports
    .nvm .fnm .local/share/fnm .n .nodenv .volta .asdf .asdfrc .tool-versions .local/share/mise .config/mise .mise.toml mise.toml .rtx .pyenv .rbenv .rvm .rvmrc .chruby .goenv .gvm .jenv .jabba .sdkman .phpenv .plenv .tfenv .tgenv .swiftly .juliaup .proto .pixi anaconda3 miniconda3 miniforge3 mambaforge .local/share/rtx
    Library/pnpm AppData/Local/Microsoft/WindowsApps AppData/Roaming/npm AppData/Local/Programs AppData/Roaming/nvm AppData/Roaming/fnm scoop .wslconfig`,
  ],
  [
    "program",
    "is loaded by interpreters when they start",
    `.local/lib .node_modules .node_libraries .noderc .pythonrc .pythonrc.py .pythonstartup .python_startup.py .pdbrc .pdbrc.py .ipython .jupyter .local/share/jupyter/kernels usercustomize.py sitecustomize.py Library/Python AppData/Roaming/Python .Rprofile .Renviron .R .config/R .irbrc .config/irb .pryrc .config/pry .rdebugrc .rdbgrc .gemrc .bundle .perldb .perlcriticrc .replyrc .tclshrc .wishrc .luarc .guile .sbclrc .clisprc .emacs-lisp .ghci .config/ghci .ocamlinit .octaverc .julia/config .iex.exs .erlang .config/erlang .groovy .ammonite .scala .sbt .jshellrc .phprc .gnuplot .maximarc .swiplrc .config/swi-prolog`,
  ],
  [
    "program",
    "makes a program run commands",
    `.gitconfig .config/git .gitattributes .hgrc .config/hg .config/jj .jjconfig.toml .subversion .vimrc .gvimrc .exrc .vim .config/vim .config/nvim .local/share/nvim .emacs .emacs.el .emacs.d .config/emacs .doom.d .config/doom .spacemacs .nanorc .config/nano .config/helix .config/micro .config/kak .config/zed .config/sublime-text .config/JetBrains .ideavimrc .tmux.conf .tmux .config/tmux .screenrc .byobu .config/byobu .config/zellij
    .psqlrc .sqliterc .config/sqlite3 .duckdbrc .myclirc .mongoshrc.js .curlrc .config/curlrc .wgetrc .config/wget .config/aria2 .aria2 .config/yt-dlp .config/youtube-dl yt-dlp.conf .lesskey .lessfilter .config/lesskey .ackrc .ripgreprc .agignore .mailcap .mailrc .mime.types .screenlayout .gdbinit .gdbearlyinit .config/gdb .lldbinit .strace .latexmkrc .config/latexmk .texmf .asy .cargo/config .cargo/config.toml .config/npm .config/yarn .m2 .mavenrc .gradle/init.gradle .gradle/init.gradle.kts .gradle/init.d .antrc .bazelrc .config/pypoetry .config/uv .ansible.cfg .ansible .vagrant.d .packerconfig .config/packer .config/mpv .config/vlc .config/ranger .config/lf .config/nnn .config/yazi .config/vifm .vifm .config/mc .config/bat .config/lazygit .config/tig .tigrc .config/gitui .config/rofi .config/wofi .config/newsboat .newsboat .w3m .lynxrc .elinks .config/task .taskrc .taskopenrc`,
  ],
  [
    "program",
    "makes a terminal run commands",
    `.config/kitty .config/alacritty .alacritty.toml .alacritty.yml .config/wezterm .wezterm.lua .config/ghostty .config/foot .config/terminator .config/tilix .config/guake .config/konsolerc .local/share/konsole .local/share/kxmlgui5 .config/rio .config/termite .config/xfce4/terminal .config/cool-retro-term .hyper.js .config/Hyper .warp .config/warp-terminal .config/tabby .mintty .minttyrc Library/Application&Support/iTerm2 Library/Preferences/com.googlecode.iterm2.plist Library/Application&Support/com.mitchellh.ghostty AppData/Local/Packages/Microsoft.WindowsTerminal_8wekyb3d8bbwe AppData/Roaming/alacritty`,
  ],
  [
    "program",
    "makes an editor or another agent run commands",
    `.claude .cursor .cursor-server .codex .gemini .qwen .opencode .config/opencode .windsurf .config/claude .config/Claude .copilot .kiro .roo .config/crush .factory .amazonq .aws/amazonq .augment .vscode .vscode-server .vscode-remote .vscode-oss .vscode-insiders .config/Code/User .config/Code&-&Insiders/User .config/Code&-&OSS/User .config/VSCodium/User .config/Cursor/User .config/Windsurf/User
    Library/Application&Support/Code/User Library/Application&Support/VSCodium/User Library/Application&Support/Cursor/User Library/Application&Support/Windsurf/User Library/Application&Support/Claude AppData/Roaming/Code/User AppData/Roaming/VSCodium/User AppData/Roaming/Cursor/User AppData/Roaming/Windsurf/User AppData/Roaming/Claude`,
  ],
  [
    "program",
    "runs commands when mail arrives or a user logs in remotely",
    `.forward .qmail .qmail-* .procmailrc .procmail .maildrop .mailfilter .vacation.msg .config/sieve .dovecot.sieve .rhosts .shosts`,
  ],
];

/** Of the whole machine. */
export const OF_MACHINE: readonly KnownPlaces[] = [
  [
    "secret",
    "holds the passwords and keys of this machine",
    `/etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/security/opasswd /etc/ssl/private /etc/pki/tls/private /etc/krb5.keytab /etc/NetworkManager/system-connections /etc/wireguard /etc/openvpn /etc/ipsec.secrets /etc/ipsec.d/private /etc/swanctl/private /etc/ppp/chap-secrets /etc/ppp/pap-secrets /etc/wpa_supplicant /etc/iwd /var/lib/iwd /etc/letsencrypt /var/lib/samba/private /etc/samba/smbpasswd /etc/mysql/debian.cnf /etc/docker/key.json /etc/kubernetes /etc/rancher /var/lib/kubelet /var/lib/rancher /etc/postfix/sasl_passwd /etc/exim4/passwd.client /etc/borgmatic /etc/ssh/ssh_host_*_key /var/lib/tailscale /var/lib/sss /private/etc/master.passwd /var/db/dslocal /Library/Keychains`,
  ],
  ["secret", "holds secrets that were given to this container", `/run/secrets /var/run/secrets /run/credentials`],
  ["secret", "is the memory of this machine", `/proc/kcore /proc/kmem /dev/mem /dev/kmem`],
  [
    "program",
    "holds scheduled commands",
    `/etc/crontab /etc/crontabs /etc/anacrontab /etc/cron.d /etc/cron.hourly /etc/cron.daily /etc/cron.weekly /etc/cron.monthly /etc/cron.yearly /var/spool/cron /var/spool/at /var/spool/anacron /var/cron /var/at /etc/periodic`,
  ],
  [
    "program",
    "holds services that are started by themselves",
    `/etc/systemd /lib/systemd /usr/lib/systemd /usr/local/lib/systemd /run/systemd /etc/init.d /etc/init /etc/rc.local /etc/rc.d /etc/rc0.d /etc/rc1.d /etc/rc2.d /etc/rc3.d /etc/rc4.d /etc/rc5.d /etc/rc6.d /etc/rcS.d /etc/inittab /etc/local.d /etc/runit /etc/sv /etc/s6 /etc/service /etc/supervisor /etc/supervisord.conf /etc/inetd.conf /etc/xinetd.d /Library/LaunchAgents /Library/LaunchDaemons /Library/StartupItems /Library/PrivilegedHelperTools /System/Library /etc/dbus-1 /usr/share/dbus-1 /etc/udev /lib/udev /usr/lib/udev /etc/NetworkManager /etc/network /etc/networkd-dispatcher /etc/dhcp /etc/logrotate.d /etc/logrotate.conf /etc/apt /etc/dpkg /etc/yum.repos.d /etc/dnf /etc/pacman.d /etc/pacman.conf /etc/apk /etc/kernel /etc/modprobe.d /etc/modules-load.d /etc/initramfs-tools /etc/dracut.conf.d /etc/grub.d /etc/default /etc/sysconfig /etc/conf.d /etc/acpi /etc/pm /etc/ppp /etc/rsyslog.conf /etc/rsyslog.d /etc/monit /etc/incron.d /boot`,
  ],
  [
    "program",
    "makes the system create files or run programs at its start",
    `/etc/tmpfiles.d /run/tmpfiles.d /etc/binfmt.d /run/binfmt.d /etc/sysctl.conf /etc/sysctl.d /etc/sysusers.d /etc/fstab /etc/crypttab /etc/exports /etc/docker /etc/containers /etc/containerd /etc/cloud /etc/ansible`,
  ],
  [
    "program",
    "is run by shells and sessions when they start",
    `/etc/profile /etc/profile.d /etc/bash.bashrc /etc/bash.bash_logout /etc/bashrc /etc/bash_completion.d /etc/zsh /etc/zshrc /etc/zshenv /etc/zprofile /etc/zlogin /etc/csh.cshrc /etc/csh.login /etc/ksh.kshrc /etc/mkshrc /etc/fish /etc/environment /etc/environment.d /etc/X11 /etc/xdg /etc/skel /etc/update-motd.d /etc/inputrc /etc/gitconfig /etc/mercurial /etc/vim /etc/emacs /etc/nanorc /etc/screenrc /etc/tmux.conf /etc/wgetrc /etc/curlrc /etc/npmrc /etc/pip.conf /etc/psqlrc /etc/R /etc/irbrc /etc/python* /etc/perl /etc/php /etc/java* /etc/ImageMagick-* /etc/mailcap /etc/aliases /etc/procmailrc`,
  ],
  [
    "program",
    "decides who may do what on this machine",
    `/etc/passwd /etc/group /etc/subuid /etc/subgid /etc/sudoers /etc/sudoers.d /etc/sudo.conf /etc/doas.conf /etc/doas.d /etc/pam.d /etc/pam.conf /etc/security /etc/polkit-1 /usr/share/polkit-1 /etc/ssh /etc/hosts.equiv /etc/hosts.allow /etc/hosts.deny /etc/shells /etc/securetty /etc/login.defs /etc/nsswitch.conf /etc/krb5.conf /etc/ld.so.preload /etc/ld.so.conf /etc/ld.so.conf.d /etc/ld.so.cache /etc/apparmor.d /etc/selinux /etc/ssl /etc/pki /etc/ca-certificates /etc/ca-certificates.conf /usr/local/share/ca-certificates /etc/alternatives`,
  ],
  [
    "program",
    "is the system itself",
    `/proc /sys /bin /sbin /lib /lib32 /lib64 /libx32 /usr/bin /usr/sbin /usr/lib /usr/lib32 /usr/lib64 /usr/libexec /usr/share/applications /usr/share/bash-completion /usr/share/zsh /usr/share/fish /snap/bin /nix/var`,
  ],
  [
    "program",
    "holds programs that everybody on this machine runs",
    `/usr/local/bin /usr/local/sbin /usr/local/lib /usr/local/lib64 /usr/local/libexec /usr/local/etc /usr/local/games /usr/games /opt/homebrew /home/linuxbrew /opt/local/bin /opt/local/sbin`,
  ],
];
