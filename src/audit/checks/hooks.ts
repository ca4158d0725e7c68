import { settingsFrom } from "../../gateway/index.ts";
import { sectionAt, textsAt, type AuditCheck, type AuditContext, type AuditFinding } from "../finding.ts";

const SHORT_TOKEN = 24;

/** What a record of an install lacks so that the same files come again. */
export function installFindings(
  kind: "hooks" | "plugins",
  installs: Readonly<Record<string, unknown>>,
  installedVersion: (id: string) => string | undefined,
): readonly AuditFinding[] {
  return Object.entries(installs).flatMap(([id, value]): AuditFinding[] => {
    const record = sectionAt(value) ?? {};
    if (record["source"] !== "npm") return [];
    const text = (key: string): string => (typeof record[key] === "string" ? record[key] : "");
    const spec = text("spec");
    const recorded = text("resolvedVersion") || text("version");
    const found = installedVersion(id);
    const warn = (checkId: string, title: string, detail: string, remediation: string): AuditFinding => ({
      checkId,
      severity: "warn",
      title,
      detail,
      remediation,
    });
    const again = `openclaw ${kind} install ${spec || id} --pin`;
    return [
      ...(!record["integrity"]
        ? [warn(`${kind}.installs_missing_integrity`, "an install without a hash", `${id}: nothing shows that its files are those of the package`, again)]
        : []),
      ...(!/@\d+\.\d+\.\d+[\w.+-]*$/.test(spec)
        ? [
            warn(
              `${kind}.installs_unpinned_npm_specs`,
              "an install without a version",
              `${id} was installed as ${JSON.stringify(spec)}: an update takes whatever is published`,
              again,
            ),
          ]
        : []),
      ...(found !== undefined && recorded !== "" && found !== recorded
        ? [warn(`${kind}.installs_version_drift`, "other files than were installed", `${id} was installed as ${recorded}, and is ${found} now`, again)]
        : []),
    ];
  });
}

/** What programs of others can make the agent do. */
export const hooks: AuditCheck = (context: AuditContext) => {
  const { cfg, exposed, config } = context;
  const section = cfg.hooks;
  const internal = installFindings("hooks", sectionAt(cfg, "hooks", "internal", "installs") ?? {}, () => undefined);
  if (section?.enabled !== true) return internal;
  const found: AuditFinding[] = [...internal];
  const path = `/${(section.path ?? "/hooks").trim().replace(/^\/+|\/+$/g, "")}`;
  const { token: own, password } = settingsFrom(cfg, config.env());
  const token = typeof section.token === "string" ? section.token.trim() : undefined;
  if (path === "/")
    found.push({
      checkId: "hooks.path_root",
      severity: "critical",
      title: "hooks take every path",
      detail: 'hooks.path is "/": the gateway does not start with it',
      remediation: "openclaw config set hooks.path /hooks",
    });
  if (token !== undefined && token !== "" && [own, password].includes(token))
    found.push({
      checkId: "hooks.token_reuse_gateway_token",
      severity: "critical",
      title: "senders of hooks hold the gateway's own secret",
      detail: "hooks.token is the same as the gateway's token or password: the gateway does not start with it",
      remediation: "openclaw config set hooks.token <another long random text>",
    });
  if (token !== undefined && token.length < SHORT_TOKEN)
    found.push({
      checkId: "hooks.token_too_short",
      severity: "warn",
      title: "the hooks' token is short",
      detail: `it has ${token.length} characters; use at least ${SHORT_TOKEN}, out of a random source`,
      remediation: "openclaw config set hooks.token <a long random text>",
    });
  if (!section.defaultSessionKey?.trim())
    found.push({
      checkId: "hooks.default_session_key_unset",
      severity: "warn",
      title: "hooks have no session of their own",
      detail: "hooks.defaultSessionKey is not set: each hook begins a session",
      remediation: "openclaw config set hooks.defaultSessionKey hook:ingress",
    });
  if (section.allowRequestSessionKey === true) {
    found.push({
      checkId: "hooks.request_session_key_enabled",
      severity: exposed ? "critical" : "warn",
      title: "senders of hooks choose the session",
      detail: "hooks.allowRequestSessionKey is true: anyone with the token can write to any session",
      remediation: "openclaw config set hooks.allowRequestSessionKey false",
    });
    if (textsAt(cfg, "hooks", "allowedSessionKeyPrefixes").length === 0)
      found.push({
        checkId: "hooks.request_session_key_prefixes_missing",
        severity: exposed ? "critical" : "warn",
        title: "sessions that hooks choose are not limited",
        detail: "hooks.allowedSessionKeyPrefixes is empty",
        remediation: "openclaw config set hooks.allowedSessionKeyPrefixes '[\"hook:\"]'",
      });
  }
  const isLimited = textsAt(cfg, "hooks", "allowedSessionKeyPrefixes").length > 0;
  found.push(...mappingFindings(section.mappings ?? [], exposed, isLimited));
  return found;
};

type Mappings = NonNullable<NonNullable<AuditContext["cfg"]["hooks"]>["mappings"]>;

/** What mappings leave to those who send. */
function mappingFindings(mappings: Mappings, exposed: boolean, isLimited: boolean): readonly AuditFinding[] {
  return mappings.flatMap(({ sessionKey, allowUnsafeExternalContent }, index): AuditFinding[] => [
    ...(!isLimited && sessionKey?.includes("{{") === true && !/^[^{]*:/.test(sessionKey)
      ? [
          {
            checkId: "hooks.mapping_session_key_from_request",
            severity: exposed ? "critical" : "warn",
            title: "senders of hooks choose the session of a mapping",
            detail: `hooks.mappings[${index}].sessionKey begins with something of the request: its senders can write to any session`,
            remediation: `openclaw config set hooks.mappings[${index}].sessionKey ${JSON.stringify(`hook:${sessionKey}`)}`,
          } as const,
        ]
      : []),
    ...(allowUnsafeExternalContent === true
      ? [
          {
            checkId: "hooks.mapping_unsafe_external_content",
            severity: "warn",
            title: "text of a webhook is not marked as text from outside",
            detail: `hooks.mappings[${index}].allowUnsafeExternalContent is true: the agent may follow what senders write`,
            remediation: `openclaw config set hooks.mappings[${index}].allowUnsafeExternalContent false`,
          } as const,
        ]
      : []),
  ]);
}
