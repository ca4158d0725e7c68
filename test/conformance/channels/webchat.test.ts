import { channelConformance } from "./conformance.ts";
import { makeWebchat, WEBCHAT_LACKS } from "./webchat.ts";

channelConformance("webchat", makeWebchat, WEBCHAT_LACKS);
