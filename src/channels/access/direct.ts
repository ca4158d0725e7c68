/** Who may send direct messages. */
import { admits, isFilledList, names, readEntries, type AllowEntries, type EntryList } from "./allow-entries.ts";
import type { Facts } from "./facts.ts";
import { dmPolicyOf, firstOf, type Found } from "./section.ts";
import type { Step } from "./decision.ts";

/** `allowFrom` of the account or its channel, also the older `dm.allowFrom`. */
export function directList({ layers }: Pick<Facts, "layers">): Found<EntryList> | undefined {
  return firstOf(layers, ["allowFrom", "dm.allowFrom"], isFilledList);
}

export interface DirectDecision extends Step {
  readonly pairing: boolean;
  /** The configured list, for commands and owners. */
  readonly list: AllowEntries;
}

const isFalse = (value: unknown): value is false => value === false;

export function decideDirect(facts: Facts): DirectDecision {
  const { layers, channel, ids, approved, who } = facts;
  const found = directList(facts);
  const list = readEntries(found?.value, facts);
  const policy = dmPolicyOf(layers, channel);
  const listPath = found?.path ?? `channels.${channel}.allowFrom`;
  const off = firstOf(layers, ["dm.enabled"], isFalse);
  const says = `${policy.path} is "${policy.value}"`;
  const answer = (step: Step, pairing = false): DirectDecision => ({ ...step, pairing, list });
  if (policy.value === "disabled" || off) {
    const path = off?.path ?? policy.path;
    return answer({ allow: false, reason: "dm-disabled", why: `direct messages are off: ${off ? `${path} is false` : says}`, path });
  }
  if (policy.value === "open" && list.everybody) {
    return answer({ allow: true, reason: "dm-open", why: `${says} and ${listPath} has "*": everybody may write`, path: policy.path });
  }
  if (admits(list, ids)) {
    const why = list.everybody ? `${listPath} has "*": everybody may write` : `${listPath} names ${who}`;
    return answer({ allow: true, reason: "dm-allowlist", why, path: listPath });
  }
  if (names(approved, ids)) return answer({ allow: true, reason: "dm-pairing", why: `${who} was let in by pairing, for this account`, path: policy.path });
  if (policy.value === "pairing") {
    return answer({ allow: false, reason: "dm-pairing", why: `${says}, and ${who} has not been approved`, path: policy.path }, facts.canAsk);
  }
  const isOpen = policy.value === "open";
  const why = isOpen ? `${says}, but ${listPath} does not have "*": it is taken as closed, and ${who} is not on it` : `${listPath} does not name ${who}`;
  return answer({ allow: false, reason: "dm-allowlist", why, path: isOpen ? policy.path : listPath });
}
