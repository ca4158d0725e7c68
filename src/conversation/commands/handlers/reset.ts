import type { CommandVerdict } from "../commands.ts";
import type { Handling } from "../handling.ts";
import { formatRef, modelChooser } from "../models/choose.ts";
import { modelHint } from "../models/hint.ts";
import { overrideFor } from "../models/override.ts";

const GREETING = [
  "A new conversation has just begun.",
  "Greet the person in one to three short sentences, in your own voice and as the files of your workspace describe you, and ask what they would like to do.",
  "Do not speak about this note, about tools, or about how you work inside.",
].join(" ");

type Turn = Extract<CommandVerdict, { kind: "turn" }>;

/**
 * A new session id; then a turn with what else was said, or with a greeting, unless no model can give it. `said` is what the sender said, without the
 * model.
 */
export async function reset({ ports, call, key, name, args }: Handling): Promise<{ readonly turn: Turn; readonly said: string } | { readonly answer: string }> {
  const reason = name === "reset" ? "reset" : "new";
  // A session can begin anew whatever is wrong with the models.
  const chooser = await modelChooser(ports, call.agentId).catch((error: unknown) => {
    ports.onError(name, error);
    return undefined;
  });
  const hint = args === "" || !chooser ? undefined : modelHint(chooser, args);
  const previous = await ports.session.read(key);
  const told = await ports.fire(reason, key, {
    sessionEntry: previous,
    previousSessionEntry: previous,
    sessionId: previous?.sessionId,
    commandSource: call.channel,
    senderId: call.senderId,
  });
  await ports.session.reset(key, call.agentId, reason);
  if (hint && chooser) await ports.session.patch(key, call.agentId, overrideFor(hint.ref, chooser.standard));
  const current = chooser && (await ports.models.current(key, call.agentId));
  const ref = current && formatRef(hint?.ref ?? current);
  const standard = chooser && formatRef(chooser.standard);
  const notice = ref === undefined ? "New session" : `New session · model ${ref}${ref === standard ? "" : ` (default ${standard})`}`;
  const rest = hint ? hint.rest : args;
  if (rest === "" && current?.problem !== undefined) return { answer: [notice, ...told, `⚠️ ${current.problem}`].join("\n") };
  const turn: Turn = {
    kind: "turn",
    text: rest === "" ? GREETING : rest,
    asides: call.canAnswerAside ? [{ text: [notice, ...told].join("\n"), isStatusNotice: true }] : told.map((text) => ({ text })),
    notes: [`/${reason}: a new session was begun`, ...(hint ? [`the model ${ref} was chosen with it`] : [])],
  };
  return { turn, said: rest };
}
