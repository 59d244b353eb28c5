import { parsePublicKey } from '../authn/public-key.ts';
import type { PrepareContext } from './define.ts';

/** Whose secrets a keyring call is about. */
export const holderOf = ({ actor }: Pick<PrepareContext, 'actor'>, ownerId: string) => ({
  organizationKey: actor.organization.wrappedKey,
  organizationId: actor.organizationId as string,
  ownerId,
});

/** A P-256 point as the caller spelled it; bundles are encrypted to it. */
export const targetKeyOf = (hex: string): Uint8Array =>
  Buffer.from(parsePublicKey('P256', hex, 'parameters.targetPublicKey'), 'hex');
