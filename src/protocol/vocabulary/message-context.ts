/** An inbound message with everything that is known about it. Times are milliseconds since the epoch. */

interface TextFields {
  Body?: string | undefined;
  BodyForAgent?: string | undefined;
  RawBody?: string | undefined;
  CommandBody?: string | undefined;
  BodyForCommands?: string | undefined;
  CommandArgs?: unknown;
  Transcript?: string | undefined;
  Prompt?: string | undefined;
  InboundHistory?: { sender: string; body: string; timestamp?: number | undefined }[] | undefined;
  /** Text from strangers: shown to the model as data. */
  UntrustedContext?: string[] | undefined;
  HookMessages?: string[] | undefined;
}

interface RoutingFields {
  From?: string | undefined;
  To?: string | undefined;
  SessionKey?: string | undefined;
  /** The session of the chat that a thread belongs to. A thread's new session begins with what was said there. */
  ParentSessionKey?: string | undefined;
  /** The same, with the session that the host has for that chat. */
  InheritsParentSession?: boolean | undefined;
  AccountId?: string | undefined;
  ChatType?: string | undefined;
  Provider?: string | undefined;
  Surface?: string | undefined;
  OriginatingChannel?: string | undefined;
  OriginatingTo?: string | undefined;
  MessageThreadId?: string | number | undefined;
  IsForum?: boolean | undefined;
  CommandTargetSessionKey?: string | undefined;
}

interface IdFields {
  MessageSid?: string | undefined;
  MessageSidFull?: string | undefined;
  MessageSids?: string[] | undefined;
  MessageSidFirst?: string | undefined;
  MessageSidLast?: string | undefined;
  ReplyToId?: string | undefined;
  ReplyToIdFull?: string | undefined;
  ReplyToBody?: string | undefined;
  ReplyToSender?: string | undefined;
  ReplyToIsQuote?: boolean | undefined;
  Timestamp?: number | undefined;
}

interface ForwardAndThreadFields {
  ForwardedFrom?: string | undefined;
  ForwardedFromType?: string | undefined;
  ForwardedFromId?: string | undefined;
  ForwardedFromUsername?: string | undefined;
  ForwardedFromTitle?: string | undefined;
  ForwardedFromSignature?: string | undefined;
  ForwardedFromChatType?: string | undefined;
  ForwardedFromMessageId?: number | undefined;
  ForwardedDate?: number | undefined;
  ThreadStarterBody?: string | undefined;
  ThreadHistoryBody?: string | undefined;
  IsFirstThreadTurn?: boolean | undefined;
  ThreadLabel?: string | undefined;
}

interface MediaFields {
  MediaPath?: string | undefined;
  MediaUrl?: string | undefined;
  MediaType?: string | undefined;
  MediaDir?: string | undefined;
  MediaPaths?: string[] | undefined;
  MediaUrls?: string[] | undefined;
  MediaTypes?: string[] | undefined;
  MediaRemoteHost?: string | undefined;
  Sticker?: unknown;
  MediaUnderstanding?: unknown[] | undefined;
  MediaUnderstandingDecisions?: unknown[] | undefined;
  LinkUnderstanding?: string[] | undefined;
  OutputDir?: string | undefined;
  OutputBase?: string | undefined;
  MaxChars?: number | undefined;
}

interface GroupFields {
  ConversationLabel?: string | undefined;
  GroupSubject?: string | undefined;
  GroupChannel?: string | undefined;
  GroupSpace?: string | undefined;
  GroupMembers?: string | undefined;
  GroupSystemPrompt?: string | undefined;
  WasMentioned?: boolean | undefined;
}

interface SenderFields {
  SenderName?: string | undefined;
  SenderId?: string | undefined;
  SenderUsername?: string | undefined;
  SenderTag?: string | undefined;
  SenderE164?: string | undefined;
  OwnerAllowFrom?: (string | number)[] | undefined;
  CommandAuthorized?: boolean | undefined;
  CommandSource?: "text" | "native" | undefined;
  GatewayClientScopes?: string[] | undefined;
}

/** Channels add keys of their own, such as `LocationLat`. */
export interface MsgContext extends TextFields, RoutingFields, IdFields, ForwardAndThreadFields, MediaFields, GroupFields, SenderFields {
  [key: string]: unknown;
}

/** After the host has filled in what can be derived. */
export interface FinalizedMsgContext extends MsgContext {
  CommandAuthorized: boolean;
}

/** A place on the map as channels report it. */
export interface NormalizedLocation {
  latitude: number;
  longitude: number;
  /** Metres. */
  accuracy?: number | undefined;
  name?: string | undefined;
  address?: string | undefined;
  isLive?: boolean | undefined;
  source?: "pin" | "place" | "live" | undefined;
  caption?: string | undefined;
}
