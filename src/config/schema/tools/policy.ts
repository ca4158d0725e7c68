import { choice, group, map, texts } from "../pieces.ts";

export const policyProperties = {
  allow: texts("Only these tools; group:name and * are understood."),
  alsoAllow: texts("These tools on top of the profile."),
  deny: texts("Never these tools; wins over everything."),
};

const profile = choice("Set of tools to start from.", ["minimal", "coding", "messaging", "full"]);

export const toolPolicy = (description: string) => group(description, policyProperties);

/** A policy with a profile and exceptions by model provider. */
export const profiledPolicy = {
  profile,
  ...policyProperties,
  byProvider: map("Policy for a provider or a provider/model.", group("Policy for these models.", { ...policyProperties, profile })),
};
