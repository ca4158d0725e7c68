import { valueAt } from "../../config/index.ts";
import { settingsFrom } from "../../gateway/index.ts";
import { toolFacts } from "../../tools/index.ts";
import { listed, sectionAt, textsAt, type AuditCheck, type AuditContext, type AuditFinding } from "../finding.ts";

/** Characters; the token that is made has 64. */
const SHORT_TOKEN = 24;
/** More failures than this in a window are as good as no limit. */
const MANY_ATTEMPTS = 1000;

function authFindings({ cfg, exposed, config }: AuditContext): readonly AuditFinding[] {
  const settings = settingsFrom(cfg, config.env());
  const { mode, token, password, rateLimit } = settings;
  const found: AuditFinding[] = [];
  const open = mode === "none" || (mode === "password" && password === undefined);
  if (open && exposed) {
    found.push({
      checkId: "gateway.bind_no_auth",
      severity: "critical",
      title: "the gateway listens on the network without authentication",
      detail: `gateway.bind is "${cfg.gateway?.bind ?? "loopback"}" and gateway.auth.mode is "${mode}"`,
      remediation: "openclaw config set gateway.auth.mode token; or openclaw config set gateway.bind loopback",
    });
  } else if (open) {
    found.push({
      checkId: "gateway.loopback_no_auth",
      severity: "critical",
      title: "the gateway has no authentication",
      detail: `gateway.auth.mode is "${mode}": every program and every user of this machine, and any proxy in front of it, controls the gateway`,
      remediation: "openclaw config set gateway.auth.mode token",
    });
  }
  if (mode === "token" && typeof token === "string" && token.trim().length < SHORT_TOKEN) {
    found.push({
      checkId: "gateway.token_too_short",
      severity: "warn",
      title: "the gateway's token is short",
      detail: `it has ${token.trim().length} characters; use at least ${SHORT_TOKEN}, out of a random source`,
      remediation: "remove gateway.auth.token and run openclaw doctor --generate-gateway-token",
    });
  }
  if (exposed && rateLimit.maxAttempts > MANY_ATTEMPTS) {
    found.push({
      checkId: "gateway.auth_no_rate_limit",
      severity: "warn",
      title: "guessing is hardly limited",
      detail: `gateway.auth.rateLimit.maxAttempts is ${rateLimit.maxAttempts}: that many wrong secrets are answered before an address is locked out`,
      remediation: "openclaw config unset gateway.auth.rateLimit",
    });
  }
  if (exposed && valueAt(cfg, ["gateway", "auth", "allowUnsignedNonce"]) === true) {
    found.push({
      checkId: "gateway.unsigned_nonce_allowed",
      severity: "warn",
      title: "device signatures without a nonce are accepted",
      detail:
        "gateway.auth.allowUnsignedNonce is true and the gateway listens on the network: a program on this machine that overhears a handshake can repeat it for a moment",
      remediation: "openclaw config unset gateway.auth.allowUnsignedNonce",
    });
  }
  return found;
}

function proxyFindings({ cfg, exposed }: AuditContext): readonly AuditFinding[] {
  const gateway = cfg.gateway ?? {};
  const found: AuditFinding[] = [];
  const proxies = gateway.trustedProxies ?? [];
  if (gateway.auth?.mode === "trusted-proxy") {
    const rules = gateway.auth.trustedProxy;
    found.push({
      checkId: "gateway.trusted_proxy_auth",
      severity: "critical",
      title: "the proxy decides who comes in",
      detail:
        'gateway.auth.mode is "trusted-proxy": anyone who can reach the gateway from the address of a proxy can sign in as any user by setting the header',
      remediation: "make sure that only the proxy can reach the gateway's port, and that the proxy removes the header from what it is sent",
    });
    if (proxies.length === 0)
      found.push({
        checkId: "gateway.trusted_proxy_no_proxies",
        severity: "critical",
        title: "no proxy is trusted",
        detail: "gateway.trustedProxies is empty: nobody can sign in",
        remediation: "openclaw config set gateway.trustedProxies '[\"<address of the proxy>\"]'",
      });
    if (!rules?.userHeader?.trim())
      found.push({
        checkId: "gateway.trusted_proxy_no_user_header",
        severity: "critical",
        title: "no header names the user",
        detail: "gateway.auth.trustedProxy.userHeader is not set",
        remediation: "openclaw config set gateway.auth.trustedProxy.userHeader <header>",
      });
    if ((rules?.allowUsers ?? []).length === 0)
      found.push({
        checkId: "gateway.trusted_proxy_no_allowlist",
        severity: "warn",
        title: "every user of the proxy may sign in",
        detail: "gateway.auth.trustedProxy.allowUsers is empty",
        remediation: "openclaw config set gateway.auth.trustedProxy.allowUsers '[\"<user>\"]'",
      });
  } else if (!exposed && gateway.controlUi?.enabled !== false && proxies.length === 0) {
    found.push({
      checkId: "gateway.trusted_proxies_missing",
      severity: "warn",
      title: "no proxy is trusted",
      detail: "gateway.trustedProxies is empty. That is right unless a reverse proxy stands in front: then every visitor looks like the proxy",
      remediation: "with a reverse proxy: openclaw config set gateway.trustedProxies '[\"127.0.0.1\"]'; without one there is nothing to do",
    });
  }
  return found;
}

function pageFindings({ cfg }: AuditContext): readonly AuditFinding[] {
  const ui = cfg.gateway?.controlUi;
  const mode = cfg.gateway?.tailscale?.mode;
  return [
    ...(ui?.dangerouslyDisableDeviceAuth === true
      ? [
          {
            checkId: "gateway.control_ui.device_auth_disabled",
            severity: "critical" as const,
            title: "the Control UI connects without a device",
            detail: "gateway.controlUi.dangerouslyDisableDeviceAuth is true: the shared secret alone gives every scope",
            remediation: "openclaw config unset gateway.controlUi.dangerouslyDisableDeviceAuth",
          },
        ]
      : []),
    ...(ui?.allowInsecureAuth === true
      ? [
          {
            checkId: "gateway.control_ui.insecure_auth",
            severity: "critical" as const,
            title: "the Control UI signs in over plain HTTP",
            detail: "gateway.controlUi.allowInsecureAuth is true: devices are not checked where the page has no secure context",
            remediation: "use HTTPS or Tailscale Serve, then openclaw config unset gateway.controlUi.allowInsecureAuth",
          },
        ]
      : []),
    ...(mode === "funnel"
      ? [
          {
            checkId: "gateway.tailscale_funnel",
            severity: "critical" as const,
            title: "the gateway is on the public internet",
            detail: 'gateway.tailscale.mode is "funnel"',
            remediation: "openclaw config set gateway.tailscale.mode serve",
          },
        ]
      : []),
    ...(mode === "serve"
      ? [
          {
            checkId: "gateway.tailscale_serve",
            severity: "info" as const,
            title: "the gateway is reachable in the tailnet",
            detail: 'gateway.tailscale.mode is "serve": every device of the tailnet can reach it',
          },
        ]
      : []),
  ];
}

function httpFindings({ cfg, exposed, config }: AuditContext): readonly AuditFinding[] {
  const endpoints = cfg.gateway?.http?.endpoints;
  const on = endpoints?.chatCompletions?.enabled === true || endpoints?.responses?.enabled === true;
  const { mode } = settingsFrom(cfg, config.env());
  const allowed = textsAt(cfg, "gateway", "tools", "allow").filter((name) => toolFacts(name)?.overHttp === "if-named");
  return [
    ...(mode === "none"
      ? [
          {
            checkId: "gateway.http.no_auth",
            severity: exposed ? ("critical" as const) : ("warn" as const),
            title: "HTTP endpoints need no secret",
            detail: `gateway.auth.mode is "none": /tools/invoke${on ? " and /v1" : ""} answer ${exposed ? "everybody who can reach the port" : "every program of this machine"}`,
            remediation: "openclaw config set gateway.auth.mode token",
          },
        ]
      : []),
    ...(on
      ? [
          {
            checkId: "gateway.http.session_key_override_enabled",
            severity: "info" as const,
            title: "callers of /v1 choose their session",
            detail: "x-openclaw-session-key names any session: anyone with the gateway's secret can write to all of them",
          },
        ]
      : []),
    ...(allowed.length > 0
      ? [
          {
            checkId: "gateway.tools_invoke_http.dangerous_allow",
            severity: exposed ? ("critical" as const) : ("warn" as const),
            title: "powerful tools can be called over HTTP",
            detail: `gateway.tools.allow names ${listed(allowed)}, which reach further than their caller`,
            remediation: "remove them from gateway.tools.allow",
          },
        ]
      : []),
  ];
}

function otherFindings({ cfg }: AuditContext): readonly AuditFinding[] {
  const vague = textsAt(cfg, "gateway", "nodes", "denyCommands").filter((name) => !/^[\w.-]+$/.test(name));
  const remote = cfg.gateway?.remote?.url ?? "";
  const plain = /^ws:\/\/(?!localhost[:/]|localhost$|127\.|\[::1\])/i.test(remote);
  return [
    ...(vague.length > 0
      ? [
          {
            checkId: "gateway.nodes.deny_commands_ineffective",
            severity: "warn" as const,
            title: "entries that deny nothing",
            detail: `gateway.nodes.denyCommands has ${listed(vague)}: names of commands are compared as a whole, without patterns or arguments`,
            remediation: "write the exact names of the commands",
          },
        ]
      : []),
    ...(plain
      ? [
          {
            checkId: "gateway.remote_plaintext",
            severity: "warn" as const,
            title: "the connection to the remote gateway is not encrypted",
            detail: `gateway.remote.url is ${remote}: the secret and what is said can be read on the way`,
            remediation: "use wss://, Tailscale or an SSH tunnel",
          },
        ]
      : []),
  ];
}

/** Who can reach the gateway, and what proves them. */
export const gateway: AuditCheck = (context) => [
  ...authFindings(context),
  ...proxyFindings(context),
  ...pageFindings(context),
  ...httpFindings(context),
  ...otherFindings(context),
];

/** Browsers that an agent drives. */
export const browser: AuditCheck = ({ cfg, config }) => {
  const section = sectionAt(cfg, "browser");
  if (!section || section["enabled"] === false) return [];
  const found: AuditFinding[] = [];
  const { mode } = settingsFrom(cfg, config.env());
  if (mode === "none")
    found.push({
      checkId: "browser.control_no_auth",
      severity: "critical",
      title: "the browser can be driven without authentication",
      detail: 'the browser is set up and gateway.auth.mode is "none": any program of this machine can use its signed-in sessions',
      remediation: "openclaw config set gateway.auth.mode token",
    });
  const profiles = Object.entries(sectionAt(section, "profiles") ?? {}).map(
    ([name, profile]) => [`browser.profiles.${name}.cdpUrl`, valueAt(profile, ["cdpUrl"])] as const,
  );
  for (const [path, url] of [["browser.cdpUrl", section["cdpUrl"]] as const, ...profiles]) {
    if (typeof url !== "string" || url.trim() === "") continue;
    const parsed = URL.parse(url);
    if (!parsed)
      found.push({
        checkId: "browser.control_invalid_config",
        severity: "warn",
        title: "the browser's address cannot be read",
        detail: `${path} is ${JSON.stringify(url.slice(0, 200))}`,
        remediation: `openclaw config set ${path} https://…`,
      });
    else if (/^(?:http|ws):$/.test(parsed.protocol) && !/^(?:localhost|127\..*|\[::1\])$/.test(parsed.hostname))
      found.push({
        checkId: "browser.remote_cdp_http",
        severity: "warn",
        title: "a remote browser is driven without encryption",
        detail: `${path} is ${parsed.protocol}//${parsed.hostname}: everybody on the way sees and can change what the browser does`,
        remediation: "use https:// or wss://, or a tunnel",
      });
  }
  return found;
};
