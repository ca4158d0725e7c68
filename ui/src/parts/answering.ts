import type { MethodResult } from "openclaw/client";
import { t } from "../words/words.ts";

type Answering = MethodResult<"overview">["answering"];

const CHOSEN: Readonly<Record<NonNullable<Answering["reason"]>["code"], string>> = {
  run: t("chosen for this run"),
  session: t("chosen for this conversation"),
  agent: t("set for the default agent"),
  defaults: t("set as default"),
  standard: t("the default model"),
  credential: t("chosen because its provider has a key"),
  local: t("found on this machine"),
  offline: t("no model is set up"),
};

/** Why this model answers, in a few words: `set as default, key from ANTHROPIC_API_KEY`. */
export function answeringText({ reason, why }: Answering): string {
  if (!reason) return why;
  const { code, key, keyName = "" } = reason;
  const keys: Readonly<Record<NonNullable<typeof key>, string>> = {
    env: t`key from ${keyName}`,
    profile: t`key from the profile ${keyName}`,
    config: t("key from the configuration"),
    ambient: t("signed in on this machine"),
    none: "",
    missing: t("no key"),
  };
  return [CHOSEN[code], key === undefined ? "" : keys[key]].filter(Boolean).join(", ");
}
