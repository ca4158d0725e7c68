import { AppError } from "../../base/errors.ts";
import { buildMentionRegexes, commandNamed, isAbortWord, readCommand, shouldHandleTextCommands, type WrittenCommand } from "../../channels/index.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import { resetTrigger } from "../../sessions/index.ts";
import type { CommandCall, CommandVerdict, Commands } from "./commands.ts";
import { answered, notThere, silent, type Answer, type Handling } from "./handling.ts";
import { isEmptyText, partsOf, sourceText, withoutMentions, type Parts } from "./parsing/message.ts";
import { scanDirectives, type Scanned } from "./parsing/directives.ts";
import type { CommandPorts } from "./ports.ts";
import { buttonsFor } from "../buttons.ts";
import type { PluginCommandResult, ReplyPayload } from "../../protocol/index.ts";

/** Plugins' commands come before the gateway's own. Whether one needs an authorised sender is its own rule. Undefined when the text is none. */
async function runPluginCommand(ports: CommandPorts, call: CommandCall, said: string): Promise<CommandVerdict | undefined> {
  const found = said.startsWith("/") ? ports.plugins?.match(said) : undefined;
  if (!found) return undefined;
  const { ctx, channel, accountId, agentId, senderId, authorized, owner } = call;
  const sessionKey = ctx.CommandTargetSessionKey ?? call.sessionKey;
  const sessionId = (await ports.session.read(sessionKey))?.sessionId;
  call.tookLong?.();
  if (call.messageKey !== undefined && (await ports.begun?.begin(call.messageKey)) === false) return interrupted(found.name);
  const context = {
    channel,
    channelId: channel,
    accountId,
    agentId,
    sessionKey,
    commandBody: said,
    isAuthorizedSender: authorized,
    senderIsOwner: owner,
    config: ports.config.current(),
    ...present({ senderId, sessionId, from: ctx.From, to: ctx.To, messageThreadId: ctx.MessageThreadId }),
  };
  const result = await found.run(context, call.signal);
  if (!result) return silent("cancelled", `/${found.name}: plugin command, stopped before it finished`);
  const { continueAgent, suppressReply, ...reply } = result;
  const payload: ReplyPayload | undefined = suppressReply || isEmpty(reply) ? undefined : reply;
  const why = `/${found.name}: plugin command`;
  if (continueAgent) return { kind: "turn", text: said, asides: payload ? [payload] : [], notes: [why] };
  return payload ? answered(payload, why) : silent("silent", why);
}

/** The process ended while the command ran: the command itself may be the reason. */
function interrupted(name: string): CommandVerdict {
  const text = `/${name} was interrupted when the gateway stopped. It may or may not have finished, and is not run again automatically. To run it again, send the command again.`;
  return answered({ text, isError: true }, `/${name}: plugin command that was running when the gateway stopped`);
}

function isEmpty(reply: Omit<PluginCommandResult, "continueAgent" | "suppressReply">): boolean {
  return !Object.values(reply).some((value) => value !== undefined && value !== "" && !(Array.isArray(value) && value.length === 0));
}

function present<T extends Record<string, unknown>>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: NonNullable<T[K]> };
}

const PER_ROW = 2;

/** Adds the choices of a command that was picked from a menu without saying which, as buttons. */
function withMenu(verdict: CommandVerdict, { source, isGroup }: CommandCall, { name, args }: { readonly name: string; readonly args: string }): CommandVerdict {
  const choices = source === "native" && args === "" ? commandNamed(name)?.choices : undefined;
  if (!choices || verdict.kind !== "answered" || verdict.reply.length !== 1 || (name === "activation" && !isGroup)) return verdict;
  const [reply] = verdict.reply;
  if (!reply || reply.isError || reply.channelData !== undefined) return verdict;
  const buttons = choices.map((choice) => ({ text: choice, command: `/${name} ${choice}` }));
  const rows = Array.from({ length: Math.ceil(buttons.length / PER_ROW) }, (_, row) => buttons.slice(row * PER_ROW, (row + 1) * PER_ROW));
  return { ...verdict, reply: [{ ...reply, ...buttonsFor(reply.text ?? "", rows) }] };
}

/** Work even where commands in text are not read. */
const ALWAYS: ReadonlySet<string> = new Set(["stop", "compact", "new", "reset"]);

type Turn = Extract<CommandVerdict, { kind: "turn" }>;
const turn = (text: string, more: Partial<Turn> = {}): Turn => ({ kind: "turn", text, asides: [], notes: [], ...more });

/** Finds out whether a message is a command, carries it out, and says what becomes of the message. */
export function createCommands(ports: CommandPorts): Commands {
  return {
    isControl(text, { botUsername } = {}) {
      const said = withoutMentions(partsOf(text).said, [], botUsername).trim();
      if (isAbortWord(said)) return true;
      const config = ports.config.current();
      if (said.startsWith("!")) return bashLine(said, config) !== undefined;
      if (/^\/[\w.-]{1,64}$/.test(said) && withAlias(said, modelAliases(config)) !== said) return true;
      return readCommand(said, { botUsername }) !== undefined || resetAsked(said, config) !== undefined || ports.plugins?.match(said) !== undefined;
    },

    run: async (call) => sealed(ports, await runMessage(ports, call)),
    native: async (agentId, owner) => (await import("./native.ts")).nativeCommands(ports, agentId, owner),
    list: async (agentId) => (await import("./native.ts")).listCommands(ports, agentId),
  };
}

/** Marks the buttons of what is answered: pressing one gives its command. */
async function sealed({ sealButtons }: CommandPorts, verdict: CommandVerdict): Promise<CommandVerdict> {
  if (!sealButtons) return verdict;
  if (verdict.kind === "answered") return { ...verdict, reply: await Promise.all(verdict.reply.map(sealButtons)) };
  return verdict.asides.length === 0 ? verdict : { ...verdict, asides: await Promise.all(verdict.asides.map(sealButtons)) };
}

/** What a message that may be a command is. */
interface Read {
  readonly source: string;
  readonly parts: Parts;
  /** Without mentions; for recognising only. */
  readonly said: string;
}

function readMessage(call: CommandCall, config: OpenClawConfig): Read {
  const source = sourceText(call.ctx);
  const parts = partsOf(source);
  const mentions = call.isGroup ? buildMentionRegexes(config, call.agentId) : [];
  return { source, parts, said: withoutMentions(parts.said, mentions, call.botUsername).trim() };
}

/** Menus of platforms have sessions of their own; their commands mean the chat's. */
const targetOf = ({ ctx, sessionKey }: CommandCall): string => ctx.CommandTargetSessionKey ?? sessionKey;

async function runMessage(ports: CommandPorts, call: CommandCall): Promise<CommandVerdict> {
  const config = ports.config.current();
  const read = readMessage(call, config);
  const { said, source } = read;
  const inText = shouldHandleTextCommands({ cfg: config, surface: call.channel, commandSource: call.source });
  const plugin = inText ? await runPluginCommand(ports, call, said) : undefined;
  if (plugin) return plugin;
  const written = commandIn(said, call, config);
  if (written && (inText || ALWAYS.has(written.name)) && !written.setting) {
    const handling: Handling = { call, ports, key: targetOf(call), ...written };
    const { mayGive } = await import("./authority.ts");
    if (!mayGive(handling)) return silent("refused", `/${written.name}: the sender is not allowed to use commands`);
    return withMenu(await carryOut(handling, read), call, written);
  }
  if (!inText || !source.includes("/")) return turn(source);
  return settle(ports, call, read);
}

/** A command by its canonical name. `setting`: one that may stand inside of other text. */
interface Named {
  readonly name: string;
  readonly args: string;
  readonly setting?: boolean;
}

function commandIn(said: string, { botUsername }: CommandCall, config: OpenClawConfig): Named | undefined {
  if (isAbortWord(said)) return { name: "stop", args: "" };
  const shell = bashLine(said, config);
  if (shell !== undefined) return { name: "bash", args: shell };
  const found = readCommand(said, { botUsername });
  if (found) return { name: found.facts.names[0], args: argsOf(found), setting: found.facts.directive === true || found.facts.names[0] === "skill" };
  const asked = resetAsked(said, config);
  return asked && { name: asked.trigger.toLowerCase() === "/reset" ? "reset" : "new", args: asked.rest };
}

function argsOf({ facts, args, more }: WrittenCommand): string {
  return facts.lines && more !== "" ? `${args}\n${more}`.trim() : args;
}

const bashLine = (said: string, config: OpenClawConfig): string | undefined =>
  said.startsWith("!") && config.commands?.bash === true
    ? said
        .slice(1)
        .replace(/\n[^]*/, "")
        .trim()
    : undefined;

const resetAsked = (said: string, config: OpenClawConfig): ReturnType<typeof resetTrigger> =>
  config.session?.resetTriggers ? resetTrigger(said, config.session.resetTriggers) : undefined;

async function carryOut(handling: Handling, read: Read): Promise<CommandVerdict> {
  const { ports, call, name } = handling;
  const { HANDLERS, reset } = await import("./handlers/index.ts");
  const { refusalOf } = await import("./authority.ts");
  const refusal = refusalOf(handling);
  if (refusal !== undefined) return answered({ text: refusal, isError: true }, `/${name} was refused: the sender is not allowed to use it`);
  return guarded(handling, async () => {
    if (name !== "new" && name !== "reset") {
      const handler = HANDLERS[name];
      if (!handler) return notThere(name, "this version does not support it");
      return handling.args.length > MOST_ARGS ? tooLong(handling) : handler(handling);
    }
    const begun = await reset(handling);
    if ("answer" in begun) return answered(begun.answer, `/${name}: a new session was started; no model is available for a greeting`);
    if (!begun.said.includes("/")) return begun.turn;
    const next = await settle(ports, call, { ...read, source: begun.said, parts: { before: "", said: begun.said }, said: begun.said });
    return next.kind === "answered" ? next : { ...next, asides: [...begun.turn.asides, ...next.asides], notes: [...begun.turn.notes, ...next.notes] };
  });
}

/** What follows a command; a message that begins a session may be longer. */
const MOST_ARGS = 8192;
const tooLong = ({ name, args }: Handling): string => `Too long for /${name}: ${args.length} characters, the limit is ${MOST_ARGS}.`;

/** A failure is an answer. */
async function guarded({ ports, name, call }: Handling, act: () => Promise<Answer> | Answer): Promise<CommandVerdict> {
  try {
    const answer = await act();
    if (typeof answer === "object" && "kind" in answer) return answer;
    return answered(answer, `/${name} was answered`);
  } catch (error) {
    if (call.signal.aborted) return silent("cancelled", `/${name} was stopped`);
    if (error instanceof AppError) return answered({ text: ports.redact(`⚠️ ${error.message}`), isError: true }, `/${name} failed: ${error.code}`);
    ports.onError(name, error);
    return answered({ text: `⚠️ /${name} failed. See the log for details.`, isError: true }, `/${name} failed unexpectedly`);
  }
}

/** Names of models that the configuration gives, in lower case. */
function modelAliases(config: OpenClawConfig): ReadonlySet<string> {
  return new Set(Object.values(config.agents?.defaults?.models ?? {}).flatMap((model) => model?.alias?.trim().toLowerCase() ?? []));
}

/** `/alias` at the beginning chooses that model. Names of commands come first. */
function withAlias(said: string, aliases: ReadonlySet<string>): string {
  const [, name = ""] = /^\/([\w.-]{1,64})(?=\s|$)/.exec(said) ?? [];
  return aliases.has(name.toLowerCase()) && !readCommand(`/${name}`) ? `/model ${said.slice(1)}` : said;
}

/** Settings, short questions and skills; what is left is for the model. */
async function settle(ports: CommandPorts, call: CommandCall, { source, parts, said }: Read): Promise<CommandVerdict> {
  const aliases = modelAliases(ports.config.current());
  const isModel = (word: string): boolean => aliases.has(word.toLowerCase());
  const options = { botUsername: call.botUsername, isModel, keepShortcuts: !call.canAnswerAside };
  const handling: Handling = { call, ports, key: targetOf(call), name: "settings", args: "" };
  const { applySettings, calledSkill, maySet, runSkill, unknownSkill } = await import("./handlers/index.ts");
  const called = call.authorized ? await calledSkill(handling, said).catch(withoutSkills(ports)) : undefined;
  const written = called ? parts.said : withAlias(parts.said.trimStart(), aliases);
  const alone = scanDirectives(called ? said : withAlias(said, aliases), { ...options, keepShortcuts: false });
  const scanned = scanDirectives(written, options);
  if (alone.count > 0 && (alone.alone || isEmptyText(alone.rest))) {
    // Every sender may narrow how commands run; everything else is for those who may give commands.
    if (!call.authorized && !(await maySet(handling, alone.directives))) return silent("refused", "settings: the sender is not allowed to use commands");
    const name = nameOf(alone);
    const settled = await guarded({ ...handling, name }, () => applySettings(handling, alone.directives));
    return withMenu(settled, call, { name, args: said.replace(/^\/[\w@]+:?/, "") });
  }
  if (!call.authorized) return turn(source);
  if (called)
    return guarded(handling, async () => withHints(handling, scanned, await runSkill(handling, called.skill, scanDirectives(called.input, options).rest)));
  const unknown = await unknownSkill(handling, said).catch(withoutSkills(ports));
  if (unknown) return unknown;
  if (scanned.count === 0) return turn(source);
  return withHints(handling, scanned, turn(parts.before + scanned.rest));
}

/** Without its skills a message still is a message. */
const withoutSkills = (ports: CommandPorts) => (error: unknown) => {
  ports.onError("skill", error);
  return undefined;
};

/** The first of them, for what is answered about a failure. */
function nameOf({ directives: { shortcuts, ...settings } }: Scanned): string {
  return Object.keys(settings)[0] ?? shortcuts[0] ?? "settings";
}

async function withHints(handling: Handling, { directives }: Scanned, verdict: CommandVerdict): Promise<CommandVerdict> {
  if (verdict.kind === "answered") return verdict;
  const { hintsOf, shortcut } = await import("./handlers/index.ts");
  const { hints, notes } = await hintsOf(handling, directives);
  const asides = await Promise.all(directives.shortcuts.map(async (name) => guarded({ ...handling, name }, () => shortcut(handling, name))));
  const thinking = directives.think?.value;
  return {
    ...verdict,
    asides: [...verdict.asides, ...asides.flatMap((aside) => (aside.kind === "answered" ? aside.reply : []))],
    ...(thinking === undefined ? {} : { thinking }),
    ...(Object.keys(hints).length === 0 ? {} : { hints }),
    notes: [
      ...verdict.notes,
      ...(thinking === undefined ? [] : [`for this message: thinking ${thinking}`]),
      ...notes,
      ...directives.shortcuts.map((name) => `/${name} was answered during the run`),
    ],
  };
}
