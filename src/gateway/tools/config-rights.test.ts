import { expect, test } from "vitest";
import { rightsTouched } from "./gateway-tool.ts";

test("how an agent speaks is no question of rights", () => {
  for (const raw of ['{ui:{seamColor:"#fff"}}', '{messages:{ackReaction:"👀"}}', '{agents:{defaults:{model:{primary:"a/b"},thinkingDefault:"low"}}}', "{}"])
    expect(rightsTouched(raw), raw).toEqual([]);
});

test.each<[string, readonly string[]]>([
  ['{tools:{exec:{security:"full",ask:"off"}}}', ["tools.exec.security", "tools.exec.ask"]],
  ["{tools:null}", ["tools"]],
  ["{agents:null}", ["agents"]],
  ["{agents:{defaults:null}}", ["agents.defaults"]],
  // Lists are not looked into.
  ['{agents:{list:[{id:"main",model:"a/b"}]}}', ["agents.list"]],
  ["{agents:{defaults:{model:null,sandbox:{mode:'off'}}}}", ["agents.defaults.sandbox.mode"]],
  ['{models:{providers:{openai:{baseUrl:"http://evil"}}}}', ["models.providers.openai.baseUrl"]],
  ['{messages:{ackReaction:"x",tts:{local:{command:"/bin/sh"}}}}', ["messages.tts.local.command"]],
  ['{"$include":"./evil.json"}', ["$include"]],
  ['{"agents.defaults.model":1}', []],
  ["{gateway:{},plugins:{entries:{}}}", ["gateway", "plugins.entries"]],
])("%s touches rights", (raw, touched) => {
  expect(rightsTouched(raw)).toEqual(touched);
});

test("what is no JSON5 changes nothing, so nobody is asked", () => {
  expect(rightsTouched("{")).toEqual([]);
});
