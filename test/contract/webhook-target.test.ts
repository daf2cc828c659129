import { webhookSender } from '#src/adapters/webhook-target/webhook-sender.js';
import { webhookSenderContract } from './webhook-sender.js';

webhookSenderContract('webhook-target', webhookSender);
