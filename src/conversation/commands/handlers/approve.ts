import { AppError } from "../../../base/errors.ts";
import { notThere, wordsOf, type Handler } from "../handling.ts";
import { readDecision } from "../parsing/levels.ts";

const USAGE = "Usage: /approve <id> allow-once|allow-always|deny";

/** Decides on something that waits. Id and decision in either order. */
export const approve: Handler = async ({ ports, call, args }) => {
  const [first = "", second = "", ...more] = wordsOf(args);
  const [id, word] = readDecision(second) !== undefined ? [first, second] : [second, first];
  const decision = readDecision(word);
  if (decision === undefined || id === "" || more.length > 0) return USAGE;
  if (!ports.approvals) return notThere("approve", "nothing asks for approval");
  try {
    await ports.approvals.resolve(id, decision, call.senderId === undefined ? call.channel : `${call.channel}:${call.senderId}`);
  } catch (error) {
    if (error instanceof AppError && error.code === "NOT_FOUND") return `Nothing with the id ${id.slice(0, 80)} waits for a decision.`;
    throw error;
  }
  return `Decided: ${decision} for ${id.slice(0, 80)}.`;
};
