import { channelConformance } from "./conformance.ts";
import { telegramLabs } from "./telegram.ts";

channelConformance("telegram", telegramLabs());
