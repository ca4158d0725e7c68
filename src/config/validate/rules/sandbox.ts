import { ruleIssue } from "../issue.ts";
import { describeFound } from "../words.ts";
import { agentScopes, itemsAt, valueAt, type Rule } from "./rule.ts";

const isWord = (value: unknown, word: string): boolean => typeof value === "string" && value.trim().toLowerCase() === word;

/** What would open the container to the host again. */
export const sandboxStaysClosed: Rule = function* (config) {
  for (const scope of agentScopes(config)) {
    const docker = [...scope.path, "sandbox", "docker"];
    if (isWord(valueAt(config, ...docker, "network"), "host")) {
      yield ruleIssue([...docker, "network"], 'the network "host" is refused: it gives the sandbox the host\'s network; use "bridge" or "none"');
    }
    for (const key of ["seccompProfile", "apparmorProfile"]) {
      if (isWord(valueAt(config, ...docker, key), "unconfined")) {
        yield ruleIssue([...docker, key], '"unconfined" is refused: it takes the sandbox\'s protection away; name a profile or remove the key');
      }
    }
    for (const bindings of [docker, [...scope.path, "sandbox", "bwrap"], [...scope.path, "sandbox", "browser"]]) {
      for (const { path, value } of itemsAt(config, ...bindings, "binds")) {
        if (typeof value === "string" && !/^(\/|[a-z]:[\\/])/i.test(value.trim())) {
          yield ruleIssue(path, `a mount must begin with an absolute folder of the host, as /data:/data:ro; found ${describeFound(value, false)}`);
        }
      }
    }
  }
};
