import type { PluginRuntime } from "../sdk/types/index.ts";
import { createAgent } from "./agent.ts";
import { createChannel } from "./channel/index.ts";
import { createConfig } from "./config.ts";
import { lazily } from "./lazily.ts";
import { createLogging } from "./logging.ts";
import { createMedia } from "./media/index.ts";
import { pendingMembers } from "./pending.ts";
import type { RuntimeOwner, RuntimePorts } from "./ports.ts";
import { createState } from "./state/index.ts";
import { createSystem } from "./system.ts";

/** `api.runtime` of one plugin. Its members work when they are taken off it; what reads files or the network is loaded when it is called. */
export function createPluginRuntime(ports: RuntimePorts, owner: RuntimeOwner): PluginRuntime {
  const pending = pendingMembers(ports.parts);
  return lazily<PluginRuntime>({
    version: () => ports.version,
    config: () => createConfig(ports, owner),
    system: () => createSystem(ports, owner),
    media: () => createMedia(pending),
    tts: () => ({
      textToSpeechTelephony: pending("tts.textToSpeechTelephony"),
      textToSpeech: pending("tts.textToSpeech"),
      textToSpeechStream: pending("tts.textToSpeechStream"),
      prepareTtsRequest: pending("tts.prepareTtsRequest"),
    }),
    tools: () => ({
      createMemoryGetTool: pending("tools.createMemoryGetTool"),
      createMemorySearchTool: pending("tools.createMemorySearchTool"),
      registerMemoryCli: pending("tools.registerMemoryCli"),
    }),
    channel: () => createChannel(ports, pending),
    logging: () => createLogging(ports, owner),
    state: () => createState(ports, owner, pending),
    agent: () => createAgent(ports, pending),
    llm: () => ({ complete: pending("llm.complete") }),
    subagent: () => ({
      run: pending("subagent.run"),
      waitForRun: pending("subagent.waitForRun"),
      getSessionMessages: pending("subagent.getSessionMessages"),
      deleteSession: pending("subagent.deleteSession"),
      complete: pending("subagent.complete"),
    }),
    mediaUnderstanding: () => ({ transcribeAudioFile: pending("mediaUnderstanding.transcribeAudioFile") }),
    gateway: () => ({ isAvailable: () => ports.parts?.["gateway.request"] !== undefined, request: pending("gateway.request") }),
  });
}
