/** Registers a mailbox with Google: a topic that Gmail reports to, a subscription that pushes to this machine, and the settings of the gateway. */
import { createIds } from "../../../base/ids.ts";
import { AppError } from "../../../base/errors.ts";
import { systemRandom } from "../../../base/random.ts";
import { isRecord } from "../../../base/records.ts";
import { gatewayPort, type OpenClawConfig } from "../../../config/index.ts";
import { loadWebhooks } from "../../../automation/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { describeEdit, editConfig } from "../../config-edit.ts";
import { openForReading, secretAt } from "../../gateway-target.ts";
import { printJson, type Io } from "../../io.ts";
import { GMAIL_OPTIONS, gmailFlags, type GmailValues } from "./gmail-run.ts";

type GmailSettings = Exclude<ReturnType<Awaited<ReturnType<typeof loadWebhooks>>["gmailSettings"]>, string>;
type Run = (command: string, ...args: readonly string[]) => Promise<string>;

/** Gmail itself, as Google names it. */
const GMAIL_PUBLISHER = "serviceAccount:gmail-api-push@system.gserviceaccount.com";
const TOKEN_BYTES = 24;

const INSTALL: Readonly<Record<string, string>> = {
  gcloud: "install the Google Cloud CLI: https://cloud.google.com/sdk/docs/install",
  gog: "install gogcli: https://gogcli.sh",
  tailscale: "install Tailscale, or set a public URL with --push-endpoint: https://tailscale.com/download",
};

async function checkPrograms(run: Run, programs: readonly string[]): Promise<void> {
  for (const program of programs) {
    try {
      await run(program, program === "tailscale" ? "version" : "--version");
    } catch (error) {
      if (error instanceof AppError && error.code === "NOT_FOUND") throw new AppError("NOT_FOUND", `${program} is not on the PATH; ${INSTALL[program]}`);
      throw error;
    }
  }
  if ((await run("gcloud", "auth", "list", "--filter", "status:ACTIVE", "--format", "value(account)")).trim() === "")
    throw new AppError("UNAVAILABLE", "gcloud is not signed in; run: gcloud auth login");
}

/** The project and the topic in it, from what was named. */
async function topicOf(
  run: Run,
  named: string,
  project: string | undefined,
): Promise<{ readonly project: string; readonly name: string; readonly path: string }> {
  const [, inPath, inName] = /^projects\/([^/]+)\/topics\/([^/]+)$/.exec(named) ?? [];
  const found = project ?? inPath ?? (await run("gcloud", "config", "get-value", "project")).trim();
  if (found === "" || found === "(unset)") throw new AppError("INVALID_INPUT", "Google Cloud project unknown; set it with --project");
  const name = inName ?? named;
  return { project: found, name, path: `projects/${found}/topics/${name}` };
}

const exists = (run: Run, ...args: readonly string[]): Promise<boolean> =>
  run("gcloud", ...args).then(
    () => true,
    () => false,
  );

async function makeTopic(run: Run, { project, name }: { readonly project: string; readonly name: string }): Promise<void> {
  const at = ["--project", project, "--quiet"];
  await run("gcloud", "services", "enable", "gmail.googleapis.com", "pubsub.googleapis.com", ...at);
  if (!(await exists(run, "pubsub", "topics", "describe", name, ...at))) await run("gcloud", "pubsub", "topics", "create", name, ...at);
  await run("gcloud", "pubsub", "topics", "add-iam-policy-binding", name, "--member", GMAIL_PUBLISHER, "--role", "roles/pubsub.publisher", ...at);
}

async function makeSubscription(run: Run, topic: { readonly project: string; readonly name: string }, subscription: string, endpoint: string): Promise<void> {
  const at = ["--project", topic.project, "--quiet"];
  const push = ["--push-endpoint", endpoint];
  if (await exists(run, "pubsub", "subscriptions", "describe", subscription, ...at))
    await run("gcloud", "pubsub", "subscriptions", "update", subscription, ...push, ...at);
  else await run("gcloud", "pubsub", "subscriptions", "create", subscription, "--topic", topic.name, ...push, ...at);
}

/** The name of this machine in its tailnet. */
async function tailscaleHost(run: Run): Promise<string> {
  const status: unknown = JSON.parse(await run("tailscale", "status", "--json"));
  const self = isRecord(status) ? status["Self"] : undefined;
  const name = isRecord(self) && typeof self["DNSName"] === "string" ? self["DNSName"].replace(/\.$/, "") : "";
  if (name === "") throw new AppError("UNAVAILABLE", "Tailscale has no name for this machine; run: tailscale up");
  return name;
}

/** The settings in the form of the file. Secrets and addresses that are there stay, unless a flag names others. */
function settingsToWrite({ hooks }: OpenClawConfig, settings: GmailSettings, values: GmailValues): object {
  const { hookToken, pushToken, hookUrl, ...gmail } = settings;
  const presets = hooks?.presets ?? [];
  const isNewPush = hooks?.gmail?.pushToken === undefined || values["push-token"] !== undefined;
  return {
    hooks: {
      enabled: true,
      ...(hooks?.token === undefined || values["hook-token"] !== undefined ? { token: hookToken } : {}),
      ...(hooks?.path === undefined ? { path: "/hooks" } : {}),
      presets: presets.includes("gmail") ? presets : [...presets, "gmail"],
      gmail: { ...gmail, ...(values["hook-url"] === undefined ? {} : { hookUrl }), ...(isNewPush ? { pushToken } : {}) },
    },
  };
}

const progress = (io: Io, text: string): void => io.err(`${text}\n`);

export const setup = defineCommand({
  options: {
    ...GMAIL_OPTIONS,
    project: { type: "string", value: "id", help: "Google Cloud project (default: gcloud's)" },
    "push-endpoint": { type: "string", value: "url", help: "Public URL of the watcher, without Tailscale" },
    json: JSON_OPTION,
  },
  examples: [{ line: "openclaw webhooks gmail setup --help", does: "List the flags" }],
  async run({ io, values }) {
    if (!values.account?.trim()) throw new AppError("INVALID_INPUT", "expected a mailbox: openclaw webhooks gmail setup --account <address>");
    const webhooks = await loadWebhooks();
    using config = await openForReading(io);
    const { hooks, gateway } = config.current;
    const environment = webhooks.programEnvironment(config.env());
    const run: Run = (command, ...args) => webhooks.runProgram(command, args, environment, io.signal());
    const flags = gmailFlags(values);
    const endpoint = values["push-endpoint"];
    const mode = endpoint === undefined ? (flags.tailscale.mode ?? "funnel") : "off";
    if (mode === "off" && endpoint === undefined) throw new AppError("INVALID_INPUT", "--tailscale off needs a public URL: add --push-endpoint");
    await checkPrograms(run, ["gcloud", "gog", ...(mode === "off" ? [] : ["tailscale"])]);
    const topic = await topicOf(run, values.topic ?? webhooks.GMAIL_DEFAULTS.topic, values.project);
    const ids = createIds(systemRandom);
    const { pushToken: written, ...gmail } = hooks?.gmail ?? {};
    const settings = webhooks.gmailSettings(
      {
        ...gmail,
        ...flags,
        topic: topic.path,
        tailscale: { ...flags.tailscale, mode },
        pushToken: values["push-token"] ?? (await secretAt(config, written, "hooks.gmail.pushToken")) ?? ids.hex(TOKEN_BYTES),
        hookToken: values["hook-token"] ?? (await secretAt(config, hooks?.token, "hooks.token")) ?? ids.hex(TOKEN_BYTES),
      },
      hooks?.path,
      gatewayPort(io.env, { config: gateway?.port }),
    );
    if (typeof settings === "string") throw new AppError("INVALID_INPUT", settings);
    progress(io, `Topic ${topic.path} …`);
    await makeTopic(run, topic);
    let address = endpoint;
    if (address === undefined) {
      progress(io, `Tailscale ${mode} …`);
      address = `https://${await tailscaleHost(run)}${settings.tailscale.path}`;
      await run("tailscale", ...webhooks.tailscaleArgs(settings));
    }
    const pushed = new URL(address);
    pushed.searchParams.set("token", settings.pushToken);
    progress(io, `Subscription ${settings.subscription} …`);
    await makeSubscription(run, topic, settings.subscription, pushed.href);
    progress(io, `Watch of ${settings.account} …`);
    await run("gog", ...webhooks.watchStartArgs(settings));
    const result = await editConfig(
      io,
      { kind: "from", edit: ({ config: now }) => ({ kind: "patch", value: settingsToWrite(now, settings, values) }) },
      "cli webhooks gmail setup",
    );
    if (values.json)
      return printJson(io, { ok: true, account: settings.account, topic: topic.path, subscription: settings.subscription, endpoint: address, ...result });
    io.out(io.runnable(describeEdit(`Connected the mailbox ${settings.account}`, result)));
  },
});
