import { badRequest, Refusal } from "../objects.ts";
import { checkWebhook } from "../webhook.ts";
import { Noted, type Call, type Methods } from "./call.ts";

interface BotCommand {
  readonly command: string;
  readonly description: string;
}

/** Commands are kept for a scope and a language. */
const shelf = ({ params }: Call): string => {
  const scope = (params.json("scope") as Readonly<Record<string, unknown>> | undefined) ?? { type: "default" };
  return `${JSON.stringify(scope)} ${params.text("language_code") ?? ""}`;
};

function setMyCommands(call: Call): true {
  const commands = call.params.json("commands") as readonly BotCommand[] | undefined;
  if (!Array.isArray(commands)) throw badRequest("can't parse commands: expected an Array");
  if (commands.length > 100) throw badRequest("BOT_COMMANDS_TOO_MUCH");
  for (const { command, description } of commands as readonly BotCommand[]) {
    if (!/^\/?[a-z0-9_]{1,32}$/.test(command)) throw badRequest("BOT_COMMAND_INVALID");
    if (!description || description.length > 256) throw badRequest("BOT_COMMAND_DESCRIPTION_INVALID");
  }
  call.world.commands.set(
    shelf(call),
    (commands as readonly BotCommand[]).map(({ command, description }) => ({ command: command.replace(/^\//, ""), description })),
  );
  return true;
}

async function getUpdates({ updates, webhook, params, gone }: Call): Promise<unknown> {
  if (webhook.settings) {
    const hint = "use deleteWebhook to delete the webhook first";
    throw new Refusal(409, `Conflict: can't use getUpdates method while webhook is active; ${hint}`);
  }
  updates.allow(params.json("allowed_updates") as readonly string[] | undefined);
  const limit = params.integer("limit") ?? 100;
  const timeoutMs = Math.min(Math.max(params.integer("timeout") ?? 0, 0), 50) * 1000;
  return updates.poll({ offset: params.integer("offset"), limit: limit < 1 || limit > 100 ? 100 : limit, timeoutMs, gone });
}

function setWebhook({ params, updates, webhook }: Call): Noted {
  const url = params.text("url") ?? "";
  const secret = params.text("secret_token");
  if (url !== "") checkWebhook(url, secret);
  updates.allow(params.json("allowed_updates") as readonly string[] | undefined);
  if (params.flag("drop_pending_updates")) updates.clear();
  if (url === "") return webhook.set(undefined) ? new Noted(true, "Webhook was deleted") : new Noted(true, "Webhook is already deleted");
  updates.endPoll(new Refusal(409, "Conflict: terminated by setWebhook request"));
  const isChange = webhook.set({ url, secret, maxConnections: params.integer("max_connections") ?? 40 });
  return new Noted(true, isChange ? "Webhook was set" : "Webhook is already set");
}

function deleteWebhook({ params, updates, webhook }: Call): Noted {
  if (params.flag("drop_pending_updates")) updates.clear();
  return new Noted(true, webhook.set(undefined) ? "Webhook was deleted" : "Webhook is already deleted");
}

function getWebhookInfo({ updates, webhook: { settings, lastError } }: Call): unknown {
  return {
    url: settings?.url ?? "",
    has_custom_certificate: false,
    pending_update_count: updates.count,
    ...(settings ? { max_connections: settings.maxConnections, ip_address: "127.0.0.1" } : {}),
    ...(settings && lastError ? { last_error_date: lastError.at, last_error_message: lastError.message } : {}),
    ...(updates.allowed ? { allowed_updates: updates.allowed } : {}),
  };
}

/** The bot itself, how it is reached, and its menu. */
export const ACCOUNT: Methods = {
  getMe: ({ world }) => world.bot,
  getUpdates,
  setWebhook,
  deleteWebhook,
  getWebhookInfo,
  setMyCommands,
  deleteMyCommands: (call) => (call.world.commands.delete(shelf(call)), true),
  getMyCommands: (call) => call.world.commands.get(shelf(call)) ?? [],
};
