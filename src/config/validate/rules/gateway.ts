import { ruleIssue } from "../issue.ts";
import { isGiven, itemsAt, objectAt, valueAt, type Rule } from "./rule.ts";

const OPEN_BINDS = new Set<unknown>(["lan", "tailnet", "custom"]);

export const portExists: Rule = function* (config) {
  const port = valueAt(config, "gateway", "port");
  if (typeof port === "number" && port > 65_535) yield ruleIssue(["gateway", "port"], `expected a port from 1 to 65535, found ${port}`);
};

export const openBindNeedsAuth: Rule = function* (config) {
  const bind = valueAt(config, "gateway", "bind");
  if (OPEN_BINDS.has(bind) && valueAt(config, "gateway", "auth", "mode") === "none") {
    yield ruleIssue(
      ["gateway", "auth", "mode"],
      `"none" is not allowed with gateway.bind "${String(bind)}": anyone on the network could connect; use token or password`,
    );
  }
};

export const customBindNeedsHost: Rule = function* (config) {
  if (valueAt(config, "gateway", "bind") !== "custom" || isGiven(valueAt(config, "gateway", "customBindHost"))) return;
  yield ruleIssue(["gateway", "bind"], '"custom" needs gateway.customBindHost: the IP address to listen on');
};

/** The password may still come from the environment. */
export const passwordModeNeedsPassword: Rule = function* (config) {
  const auth = objectAt(config, "gateway", "auth");
  if (auth?.["mode"] === "password" && !isGiven(auth["password"])) {
    yield ruleIssue(["gateway", "auth", "mode"], '"password" needs gateway.auth.password, or OPENCLAW_GATEWAY_PASSWORD in the environment', "warning");
  }
};

export const tailscaleFitsBindAndAuth: Rule = function* (config) {
  const path = ["gateway", "tailscale", "mode"];
  const mode = valueAt(config, ...path);
  if (mode !== "serve" && mode !== "funnel") return;
  const bind = valueAt(config, "gateway", "bind");
  if (OPEN_BINDS.has(bind)) yield ruleIssue(["gateway", "bind"], `must be loopback while gateway.tailscale.mode is "${mode}"; found "${String(bind)}"`);
  if (mode !== "funnel") return;
  const auth = objectAt(config, "gateway", "auth") ?? {};
  if (auth["mode"] !== undefined && auth["mode"] !== "password") {
    yield ruleIssue(path, '"funnel" opens the gateway to the internet and needs gateway.auth.mode "password"');
  } else if (!isGiven(auth["password"])) {
    yield ruleIssue(path, '"funnel" needs gateway.auth.password, or OPENCLAW_GATEWAY_PASSWORD in the environment', "warning");
  }
};

export const trustedProxyIsComplete: Rule = function* (config) {
  const path = ["gateway", "auth", "mode"];
  if (valueAt(config, ...path) !== "trusted-proxy") return;
  const bind = valueAt(config, "gateway", "bind") ?? "loopback";
  if (bind === "loopback") yield ruleIssue(path, '"trusted-proxy" needs a gateway.bind that the proxy can reach, such as "lan"');
  if ([...itemsAt(config, "gateway", "trustedProxies")].length === 0) {
    yield ruleIssue(path, '"trusted-proxy" needs gateway.trustedProxies: the addresses of the proxy');
  }
  if (!objectAt(config, "gateway", "auth", "trustedProxy")) {
    yield ruleIssue(path, '"trusted-proxy" needs gateway.auth.trustedProxy.userHeader: the header with the user\'s name');
  }
};
