/** Small sections about the process, its surroundings and its logs. */
import { Type } from "typebox";
import {
  advanced,
  amount,
  choice,
  count,
  flag,
  group,
  list,
  map,
  notes,
  number,
  openGroup,
  ratio,
  secret,
  secretMap,
  sensitive,
  text,
  textMap,
  textOrNumber,
  texts,
  whole,
} from "./pieces.ts";
import { hexColor } from "./parts.ts";

const logLevel = (description: string) => choice(description, ["silent", "fatal", "error", "warn", "info", "debug", "trace"]);

export const meta = group("Written by the program.", { lastTouchedVersion: text("Version that wrote this file."), lastTouchedAt: text("When.") }, [], notes);

export const wizard = group(
  "Written by the setup.",
  {
    lastRunAt: text("When it ran."),
    lastRunVersion: text("Its version."),
    lastRunCommit: text("Its commit."),
    lastRunCommand: text("The command."),
    lastRunMode: choice("What was set up.", ["local", "remote"]),
  },
  [],
  notes,
);

export const env = openGroup(
  "Environment variables, for those that are not set already.",
  {
    shellEnv: group("Takes missing keys from the login shell.", {
      enabled: flag("Enable it."),
      timeoutMs: amount("How long the shell may take."),
    }),
    vars: secretMap("Variables by name."),
  },
  text("A variable.", sensitive),
);

export const logging = group("Logs.", {
  level: logLevel("Level of the log file."),
  file: text("Log file."),
  consoleLevel: logLevel("Level of the console."),
  consoleStyle: choice("Style of the console.", ["pretty", "compact", "json"]),
  redactSensitive: choice("Hide secrets in what tools print.", ["off", "tools"]),
  redactPatterns: texts("Regular expressions to hide instead of the built-in ones.", advanced),
  levels: map("Level by part of the program, such as store or gateway.", logLevel("Its level."), advanced),
  maxFileBytes: count("A log file above this size is rotated.", advanced),
});

export const diagnostics = group("Diagnostics for operators.", {
  enabled: flag("Emit diagnostic events."),
  flags: texts("Extra detail by area; * is a wildcard."),
  otel: group("OpenTelemetry export.", {
    enabled: flag("Export."),
    endpoint: text("Collector address."),
    protocol: choice("Wire format.", ["http/protobuf", "grpc"]),
    headers: secretMap("Extra request headers."),
    serviceName: text("Name of this service."),
    traces: flag("Export traces."),
    metrics: flag("Export metrics."),
    logs: flag("Export logs."),
    sampleRate: ratio("Share of traces kept."),
    flushIntervalMs: amount("Milliseconds between two exports."),
  }),
  cacheTrace: group(
    "Writes what was sent to models, to find out why a cache missed.",
    {
      enabled: flag("Write it."),
      filePath: text("File."),
      includeMessages: flag("With messages."),
      includePrompt: flag("With the prompt."),
      includeSystem: flag("With the system prompt."),
    },
    [],
    advanced,
  ),
});

export const update = group("New versions.", {
  channel: choice("Which versions.", ["stable", "beta", "dev"]),
  checkOnStart: flag("Check at start."),
});

export const ui = group("Appearance of the Control UI.", {
  seamColor: hexColor("Accent colour, such as #FF4500."),
  assistant: group("How the assistant is shown.", {
    name: text("Name.", { maxLength: 50 }),
    avatar: text("Emoji, letters or a picture's address.", { maxLength: 200 }),
  }),
});

export const web = group("The WhatsApp Web connection.", {
  enabled: flag("Connect."),
  heartbeatSeconds: count("Seconds between two keep-alive signals."),
  reconnect: group(
    "Waiting times after a lost connection.",
    {
      initialMs: number("First wait.", { exclusiveMinimum: 0 }),
      maxMs: number("Longest wait.", { exclusiveMinimum: 0 }),
      factor: number("Growth from wait to wait.", { exclusiveMinimum: 0 }),
      jitter: ratio("Random share of a wait."),
      maxAttempts: amount("Attempts before giving up; 0 is never."),
    },
    [],
    advanced,
  ),
});

export const discovery = group("How devices find this gateway.", {
  wideArea: group("Beyond the local network.", { enabled: flag("Publish there.") }),
  mdns: group("On the local network.", { mode: choice("How much is announced.", ["off", "minimal", "full"]) }),
});

export const canvasHost = group("Serves pages that agents make for nodes.", {
  enabled: flag("Serve them."),
  root: text("Folder."),
  port: count("Unused: they are served on the gateway's port.", advanced),
  liveReload: flag("Reload pages when files change."),
});

export const talk = group("Talk mode of the apps.", {
  voiceId: text("Voice."),
  voiceAliases: textMap("Voices by name."),
  modelId: text("Model."),
  outputFormat: text("Sound format.", advanced),
  apiKey: secret("ElevenLabs key."),
  interruptOnSpeech: flag("Stop speaking when the user speaks."),
});

export const media = group("Stored media.", { preserveFilenames: flag("Keep the original file names.") });

export const audio = group(
  "Older place of speech settings.",
  {
    transcription: group("Program that turns speech into text.", { command: texts("Program and arguments."), timeoutSeconds: count("How long it may take.") }, [
      "command",
    ]),
  },
  [],
  advanced,
);

export const nodeHost = group("This machine as a node.", {
  browserProxy: group("Its browser for the gateway.", { enabled: flag("Offer it."), allowProfiles: texts("Only these profiles.") }),
  files: group("Files of this machine that the gateway may move.", {
    folders: texts("Folders whose files may be read. Nothing is offered without one."),
    write: flag("Files may be written there, too."),
  }),
  camera: group("Its cameras for the gateway. Off without enabled.", {
    enabled: flag("Offer them."),
    sources: list(
      "Cameras to offer instead of those that are found, such as cameras in the network.",
      group("One camera.", { name: text("Name.", { minLength: 1 }), input: texts("Options with which ffmpeg opens it.", { minItems: 1 }) }, ["name", "input"]),
    ),
  }),
  screen: group("Recordings of its screen for the gateway. Off without enabled.", {
    enabled: flag("Offer them."),
    input: texts("Options with which ffmpeg opens the screen, instead of the way that is found."),
  }),
  microphone: group("Sound in recordings. Off without enabled.", {
    enabled: flag("Record sound with clips of cameras and screens."),
    input: texts("Options with which ffmpeg opens the microphone."),
  }),
  location: group("Where it is, for the gateway. Off without enabled.", {
    enabled: flag("Offer it."),
    command: texts("Program and arguments that print the position as JSON, instead of the program that is found."),
  }),
});

export const approvals = group("Where approval questions go.", {
  exec: group("Questions before commands run.", {
    enabled: flag("Forward them to chats."),
    mode: choice("To the asking session, to the targets or both.", ["session", "targets", "both"]),
    agentFilter: texts("Only for these agents."),
    sessionFilter: texts("Only for sessions whose key matches."),
    targets: list(
      "Chats that are asked.",
      group(
        "One chat.",
        {
          channel: text("Channel id.", { minLength: 1 }),
          to: text("Recipient.", { minLength: 1 }),
          accountId: text("Account to send from."),
          threadId: textOrNumber("Thread."),
        },
        ["channel", "to"],
      ),
    ),
  }),
});

export const cron = group("Scheduled work.", {
  enabled: flag("Run jobs."),
  store: text("File that jobs are imported from.", advanced),
  maxConcurrentRuns: count("Jobs at the same time."),
  webhook: text("Address that finished runs of older jobs with notify are posted to; other jobs name their own.", { format: "uri", ...advanced }),
  webhookToken: secret("Token sent to webhooks."),
  sessionRetention: Type.Union([Type.String(), Type.Literal(false)], {
    description: "How long the session of a job that was removed is kept, such as 24h; false keeps it. Its transcript stays.",
  }),
});

/** Our own section: the reference format has none. */
export const store = group("Where durable state is kept.", {
  url: text("postgres:// address for several processes; a file in the state folder when absent.", { pattern: "^postgres(ql)?://", ...sensitive }),
  retention: group("How long finished rows are kept.", {
    inboxDays: whole("Received messages; also used to detect duplicates.", { minimum: 7 }),
    outboxDays: count("Sent messages."),
    journalDays: count("Steps of finished turns."),
    usageDays: count("Token and cost records."),
    mediaDays: count("Files that came with messages."),
    mediaMb: count("Megabytes that stored files may take; the oldest are removed first."),
    archiveDays: whole("Transcripts of sessions that were not used for so many days are compressed. They stay readable. Off when absent.", { minimum: 7 }),
  }),
});
