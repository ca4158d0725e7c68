import { Type } from "typebox";
import { advanced, amount, choice, count, flag, group, number, openGroup, secret, text, texts, whole } from "../pieces.ts";

const fetched = {
  allowUrl: flag("Accept addresses, not only content."),
  urlAllowlist: texts("Hosts that addresses may point to; * is a wildcard."),
  allowedMimes: texts("Accepted MIME types."),
  maxBytes: count("Largest file."),
  maxRedirects: amount("Redirects followed."),
  timeoutMs: count("How long a download may take."),
};

const responses = group("POST /v1/responses.", {
  enabled: flag("Serve it."),
  maxBodyBytes: count("Largest request.", advanced),
  maxUrlParts: amount("Addresses fetched per request.", advanced),
  files: group(
    "Files in requests.",
    {
      ...fetched,
      maxChars: count("Longest text taken from a file."),
      pdf: group("PDF files.", {
        maxPages: count("Pages read."),
        maxPixels: count("Largest rendered page."),
        minTextChars: amount("Pages with less text are rendered as images."),
      }),
    },
    [],
    advanced,
  ),
  images: group("Images in requests.", fetched, [], advanced),
});

const http = group("HTTP interfaces.", {
  endpoints: group("Switchable endpoints.", {
    chatCompletions: group("POST /v1/chat/completions.", { enabled: flag("Serve it.") }),
    responses,
  }),
});

const controlUi = group("The Control UI.", {
  enabled: flag("Serve it."),
  basePath: text("Path it is served under."),
  root: text("Folder to serve instead of the bundled one.", advanced),
  allowedOrigins: texts("Web origins that may connect besides the gateway's own."),
  allowInsecureAuth: flag("Let it connect with a token alone over plain HTTP.", advanced),
  dangerouslyDisableDeviceAuth: flag("Do not require a device identity from browsers; anyone with the token can connect.", advanced),
});

const auth = group("Who may connect.", {
  mode: choice("How clients prove themselves; password when one is set, token otherwise.", ["none", "token", "password", "trusted-proxy"]),
  token: secret("Token that clients send."),
  password: secret("Password that clients send."),
  allowTailscale: flag("Trust the identity that Tailscale Serve passes on."),
  allowUnsignedNonce: flag("Accept device signatures without a nonce from this machine; on when bind is loopback, off otherwise.", advanced),
  rateLimit: group(
    "Locks out addresses that keep failing.",
    {
      maxAttempts: number("Failures before the lockout."),
      windowMs: number("Time in which they count."),
      lockoutMs: number("How long the lockout lasts."),
      exemptLoopback: flag("Never lock out this machine; its wrong secrets are delayed instead."),
    },
    [],
    advanced,
  ),
  trustedProxy: group(
    "A proxy in front that has checked the user.",
    {
      userHeader: text("Header with the user's name.", { minLength: 1 }),
      requiredHeaders: texts("Required headers."),
      allowUsers: texts("Only these users; all when empty."),
    },
    ["userHeader"],
    advanced,
  ),
});

const remote = group("The gateway that this machine's clients use when mode is remote.", {
  url: text("Its WebSocket address."),
  transport: choice("How it is reached.", ["ssh", "direct"]),
  token: secret("Token for it."),
  password: secret("Password for it."),
  tlsFingerprint: text("Fingerprint its certificate must have."),
  sshTarget: text("SSH destination, as user@host."),
  sshIdentity: text("SSH key file."),
});

export const gateway = group("The server that everything connects to.", {
  port: count("Port it listens on."),
  mode: choice("local runs the gateway here, remote only uses one elsewhere.", ["local", "remote"]),
  bind: choice("Addresses it listens on; anything but loopback needs authentication.", ["auto", "lan", "loopback", "custom", "tailnet"]),
  customBindHost: text("IP address it listens on when bind is custom."),
  controlUi,
  auth,
  trustedProxies: texts("Addresses of proxies whose forwarded headers count."),
  tools: group("Tools over HTTP.", { deny: texts("Refused besides the built-in list."), allow: texts("Taken off the built-in list.") }, [], advanced),
  channelHealthCheckMinutes: amount("Minutes between two checks of the channels; 0 turns them off.", advanced),
  tailscale: group("Exposure through Tailscale.", {
    mode: choice("serve reaches the tailnet, funnel the internet.", ["off", "serve", "funnel"]),
    resetOnExit: flag("Undo it on exit."),
  }),
  remote,
  watchdog: group(
    "What happens when code of a plugin blocks everything else.",
    {
      warnSeconds: whole("Name the plugin after this long (5).", { minimum: 1, maximum: 3600 }),
      limitSeconds: whole("End the process after this long, so that its supervisor starts it again (30); 0 never.", { minimum: 0, maximum: 86_400 }),
    },
    [],
    advanced,
  ),
  reload: group("What happens when this file changes.", {
    mode: choice("hybrid applies what it can and restarts for the rest.", ["off", "restart", "hot", "hybrid"]),
    debounceMs: amount("Wait for this many milliseconds of silence.", advanced),
  }),
  tls: openGroup(
    "Encryption.",
    {
      enabled: flag("Serve wss and https."),
      autoGenerate: flag("Make a certificate when there is none."),
      certPath: text("Certificate file."),
      keyPath: text("Key file."),
      caPath: text("File of accepted authorities."),
    },
    Type.Unknown(),
  ),
  http,
  nodes: group("Devices that connect as nodes.", {
    browser: group("Browsers of nodes.", {
      mode: choice("How a node's browser is chosen.", ["auto", "manual", "off"]),
      node: text("The node to use."),
    }),
    allowCommands: texts("Commands allowed beyond the defaults."),
    denyCommands: texts("Commands never sent; wins over all."),
  }),
});
