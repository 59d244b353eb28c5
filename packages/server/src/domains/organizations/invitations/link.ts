import { timingSafeEqual } from 'node:crypto';
import { randomToken, sha256 } from '../../../lib/encoding.ts';
import type { InvitationId, OrganizationId } from '../../../lib/ids.ts';

/** Where the page is that the link leads to. */
export const INVITATION_PATH = '/invitation';

/** What a link carries: which invitation it is of, and the secret, of which only a hash is stored. */
export interface LinkParts {
  readonly organizationId: OrganizationId;
  readonly invitationId: InvitationId;
  readonly secret: string;
}

export const newSecret = randomToken;

export const hashOfSecret = (secret: string): Uint8Array => sha256(secret);

export const isSecretOf = (hash: Uint8Array, secret: string): boolean => timingSafeEqual(hash, sha256(secret));

/** The parts travel in the fragment, which no browser sends to anybody. */
export function invitationUrl(baseUrl: string, { organizationId, invitationId, secret }: LinkParts): string {
  const fragment = new URLSearchParams({ organizationId, invitationId, secret });
  return `${withName(baseUrl)}${INVITATION_PATH}#${fragment}`;
}

/** Browsers make passkeys for names only, and `localhost` is the name of this machine. */
const withName = (baseUrl: string): string =>
  baseUrl.replace(/^http:\/\/(?:127\.0\.0\.1|\[::1\])(?=[:/]|$)/, 'http://localhost');
