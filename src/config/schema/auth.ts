import { advanced, choice, group, map, number, text, texts } from "./pieces.ts";

const hours = (description: string) => number(description, { exclusiveMinimum: 0 });

export const auth = group("Which credentials are used; they are stored elsewhere.", {
  profiles: map(
    "Known credentials.",
    group(
      "One credential.",
      { provider: text("Provider id."), mode: choice("Its kind.", ["api_key", "oauth", "token"]), email: text("Account it belongs to.") },
      ["provider", "mode"],
    ),
  ),
  order: map("Profiles to try, by provider.", texts("Profile ids in order.")),
  cooldowns: group(
    "Cooldowns of failing credentials.",
    {
      billingBackoffHours: hours("First cooldown after a billing failure."),
      billingBackoffHoursByProvider: map("The same by provider.", hours("Hours.")),
      billingMaxHours: hours("Longest cooldown."),
      failureWindowHours: hours("Time in which failures count together."),
    },
    [],
    advanced,
  ),
});
