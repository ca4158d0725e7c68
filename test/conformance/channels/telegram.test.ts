import { channelConformance } from "./conformance.ts";
import { TELEGRAM_FAULTS, telegramLabs } from "./telegram.ts";

channelConformance("telegram", telegramLabs(), {}, TELEGRAM_FAULTS);
