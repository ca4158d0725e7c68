export { internal, invalid, RpcError } from "./methods.ts";
export { type Asked, type FakeMessages, type Fault, startMessages } from "./server.ts";
export { type Attachment, type Chat, OWN_HANDLE, type Row } from "./world.ts";
