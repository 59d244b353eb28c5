import { createHash } from 'node:crypto';
import type { Answer } from '../../harness/client.ts';

export const MINUTE = 60_000;

export const outcome = ({ status, body }: Answer) => [status, body.errorCode ?? body.activity?.status];

export const sha256 = (data: string | Uint8Array): Buffer => createHash('sha256').update(data).digest();

export const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

export const base64url = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString('base64url');

export const path = (operation: string) => `/public/v1/submit/${operation}`;

export const WHOAMI = '/public/v1/query/whoami';

export const stampHeader = (fields: Record<string, unknown>): string => base64url(JSON.stringify(fields));

export const queryBody = (organizationId: string) => JSON.stringify({ organizationId });
