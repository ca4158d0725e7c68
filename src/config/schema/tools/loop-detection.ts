import { count, flag, group } from "../pieces.ts";

export const loopDetection = group("Stops an agent that repeats the same calls.", {
  enabled: flag("Watch for loops."),
  historySize: count("Calls considered."),
  warningThreshold: count("Repetitions after which the agent is warned."),
  criticalThreshold: count("Repetitions after which the call is blocked; above the warning."),
  globalCircuitBreakerThreshold: count("Repetitions after which the turn ends; above the critical threshold."),
  detectors: group("Patterns to look for.", {
    genericRepeat: flag("The same call again."),
    knownPollNoProgress: flag("Polling without progress."),
    pingPong: flag("Two calls that take turns."),
  }),
});
