import type { Guard } from '../../../outbound/guard.ts';

/**
 * Where deliveries may go, at registration and at every delivery (protocol/webhooks 5.1). A name with a single address
 * that may not be reached is refused as a whole: an honest receiver has no such record, and one that has it is trying
 * something.
 */
export const webhookGuard = (allow: readonly string[]): Guard => ({ allow, everyAddress: true, usualPorts: true });
