import type { Send, SendProgress } from '../../send/model.ts';
import { begin } from './begin.ts';
import { follow } from './follow.ts';
import type { SolanaParts } from './parts.ts';

/**
 * Moves a send on by one step. What it answers is to be written down; undefined when there is nothing to write. Sends of
 * one address are begun one after the other, since each must see what the others have signed.
 */
export async function solanaStep(parts: SolanaParts, send: Send): Promise<SendProgress | undefined> {
  const [attempt] = send.attempts;
  return attempt === undefined ? await begin(parts, send) : await follow(parts, send, attempt);
}
