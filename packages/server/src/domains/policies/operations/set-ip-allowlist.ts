import Type from 'typebox';
import type { IpAllowlist, IpRule } from '../../../core/model.ts';
import { shortId } from '../../../describe/names.ts';
import { danger, lookClosely } from '../../../describe/sentence.ts';
import { listOf, named, say, strong } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { ApiError, invalidField } from '../../../lib/errors.ts';
import { normalizeCidr } from '../../../lib/network.ts';
import { NameShape, textShape } from '../../../lib/shapes.ts';
import { CredentialStore } from '../../users/store/credentials.ts';
import { allowlistKey } from '../allowlist-key.ts';
import { refuseLockout } from '../allowlist-lockout.ts';
import { NetworkStore } from '../store/networks.ts';

const RULES_MAX = 100;

export const setIpAllowlist = defineActivity({
  name: 'set_ip_allowlist',
  type: 'ACTIVITY_TYPE_SET_IP_ALLOWLIST',
  summary:
    'Replace the IP allowlist of the organization or of one API key. One that would lock its caller out is refused unless allowLockout is true.',
  policy: { governedBy: 'policy', resource: 'CONFIG', action: 'UPDATE' },
  credentials: 'none',
  parameters: Type.Object({
    publicKey: Type.Optional(textShape(512)),
    enabled: Type.Optional(Type.Boolean()),
    rules: Type.Optional(
      Type.Array(Type.Object({ cidr: textShape(64), label: Type.Optional(NameShape) }), { maxItems: RULES_MAX }),
    ),
    onEvaluationError: Type.Optional(Type.Enum(['ALLOW', 'DENY'])),
    allowLockout: Type.Optional(Type.Boolean()),
  }),
  sentence: ({ publicKey, enabled, rules }) => {
    const who = publicKey === undefined ? say`this organization` : say`the API key ${strong(shortId(publicKey))}`;
    if (enabled === false) {
      return danger(
        say`Let ${who} act from ${strong('every IP address')}.`,
        'takes a protection away',
        'Stolen keys then work from everywhere. I want that.',
      );
    }
    const from =
      rules === undefined
        ? say`the addresses it had`
        : rules.length === 0
          ? say`no address at all`
          : listOf(rules.map(({ cidr }) => named(cidr)));
    return lookClosely(
      say`Let ${who} act only from ${from}.`,
      'can lock people out',
      'Nobody can act from other addresses then. I can act from one of these.',
    );
  },
  result: Type.Object({}),
  check({ publicKey, enabled, rules }) {
    if (allowlistKey(publicKey) !== undefined && enabled !== undefined) {
      throw invalidField('parameters.enabled', 'is for the list of the organization only');
    }
    for (const [index, { cidr }] of (rules ?? []).entries()) {
      if (normalizeCidr(cidr) === undefined) {
        throw invalidField(`parameters.rules.${index}.cidr`, `${JSON.stringify(cidr)} is no IPv4 or IPv6 block`);
      }
    }
  },
  async execute(context, { publicKey, enabled, rules, onEvaluationError, allowLockout }) {
    const { store, actor, nowMs } = context;
    const key = allowlistKey(publicKey);
    if (key !== undefined && !(await store(CredentialStore).hasApiKey(actor.organizationId, key))) {
      throw new ApiError('RESOURCE_NOT_FOUND', 'no API key with this public key in this organization');
    }
    const list: IpAllowlist = {
      publicKey: key,
      enabled: key === undefined ? (enabled ?? false) : true,
      onEvaluationError: onEvaluationError === 'ALLOW' ? 'ALLOW' : 'DENY',
      rules: toRules(rules ?? [], nowMs),
    };
    const others = (await store(NetworkStore).allowlists(actor.organizationId)).filter(
      (other) => other.publicKey !== key,
    );
    if (allowLockout !== true) refuseLockout(context, [...others, list]);
    await store(NetworkStore).put(actor.organizationId, list, nowMs);
    return {};
  },
});

/** Host bits are zeroed; of two equal blocks the first stays with its label. */
function toRules(rules: readonly { readonly cidr: string; readonly label?: string }[], nowMs: number): IpRule[] {
  const byBlock = new Map<string, IpRule>();
  for (const { cidr, label } of rules) {
    const block = normalizeCidr(cidr) as string;
    if (!byBlock.has(block))
      byBlock.set(block, { cidr: block, ...(label !== undefined && { label }), createdAtMs: nowMs });
  }
  return [...byBlock.values()];
}
