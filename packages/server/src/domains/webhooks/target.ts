import { ApiError } from '../../lib/errors.ts';
import { unlessAborted, withDeadline } from '../../outbound/deadline.ts';
import { addressesOf, checkAddresses, parseTarget, type Target } from '../../outbound/guard.ts';
import { OutboundError } from '../../outbound/outbound-error.ts';
import { createResolveHost, type ResolveHost, systemLookup } from '../../outbound/resolve-host.ts';
import { webhookGuard } from './poster/rules.ts';

/** Whether webhooks may be sent to a URL as things stand; every delivery asks again. Throws INVALID_WEBHOOK_URL. */
export type TargetCheck = (url: string) => Promise<void>;

export interface TargetCheckParts {
  readonly resolveHost?: ResolveHost;
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 5000;

/** `allow` holds normalised blocks, see lib/network.ts. */
export function createTargetCheck(allow: readonly string[], parts: TargetCheckParts = {}): TargetCheck {
  const guard = webhookGuard(allow);
  const resolveHost = parts.resolveHost ?? createResolveHost(allow.length > 0 ? systemLookup : undefined);
  const { timeoutMs = TIMEOUT_MS } = parts;
  return async (url) => {
    const target = parse(url);
    try {
      await withDeadline({ timeoutMs }, async (signal) =>
        checkAddresses(guard, target, await unlessAborted(signal, addressesOf(target, resolveHost))),
      );
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      throw refuse(error.reason === 'bad-url' ? error.message : whyUnreachable(target), error);
    }
  };
}

function parse(text: string): Target {
  // The parser leaves them out, so that what is shown would not be what is called.
  if (/[\p{Cc}\s\\]/u.test(text)) throw refuse('the URL has spaces, control characters or backslashes');
  if (text.includes('#')) throw refuse('the URL has a fragment, which is never sent');
  try {
    const target = parseTarget(text);
    // The parser also takes one slash, none or three, and an empty user.
    if (!/^https?:\/\/[^/@]/i.test(text)) throw refuse('the URL must begin with https:// and a host');
    if (target.port === 0) throw refuse('nothing can be sent to port 0');
    return target;
  } catch (error) {
    throw error instanceof OutboundError ? refuse(error.message, error) : error;
  }
}

/** The same words for unknown names and names that lead to a private address: nobody shall map our network by them. */
function whyUnreachable({ scheme, isAddress }: Target): string {
  if (scheme === 'http:') return 'the URL must be https; plain http is for addresses that the operator allows';
  if (isAddress) return 'the address is neither public nor allowed by the operator';
  return 'the host needs an address, and each of them must be public or allowed by the operator';
}

const refuse = (problem: string, cause?: unknown): ApiError => new ApiError('INVALID_WEBHOOK_URL', problem, { cause });
