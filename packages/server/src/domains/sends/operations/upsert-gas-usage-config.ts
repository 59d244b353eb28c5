import Type from 'typebox';
import { UintShape } from '../../../chains/shapes.ts';
import { lookClosely } from '../../../describe/sentence.ts';
import { say, strong } from '../../../describe/text.ts';
import { durationText } from '../../../describe/values.ts';
import { defineActivity } from '../../../engine/define.ts';
import { invalidField, notServed } from '../../../lib/errors.ts';
import type { GasUsageConfigId } from '../../../lib/ids.ts';
import { WINDOW_MINUTES_MAX } from '../sponsorship-model.ts';
import { SponsorshipStore } from '../store/sponsorship.ts';

const UsdShape = Type.String({
  pattern: '^(?:0|[1-9][0-9]{0,8})(?:\\.[0-9]{1,6})?$',
  'x-message':
    'must be US dollars as a decimal number such as 25 or 0.50, below a billion and with at most 6 digits behind the point',
});

export const upsertGasUsageConfig = defineActivity({
  name: 'upsert_gas_usage_config',
  type: 'ACTIVITY_TYPE_UPSERT_GAS_USAGE_CONFIG',
  summary:
    'Limit what sponsored sends of a parent organization and of its sub-organizations cost in a window of time, together and each.',
  policy: { governedBy: 'policy', resource: 'SPONSORSHIP', action: 'UPDATE' },
  credentials: 'none',
  scope: 'parent',
  ours: true,
  parameters: Type.Object({
    orgWindowLimitUsd: UsdShape,
    subOrgWindowLimitUsd: UsdShape,
    windowDurationMinutes: UintShape,
    enabled: Type.Optional(Type.Boolean()),
    solanaConfig: Type.Optional(Type.Object({ rentPrefundEnabled: Type.Optional(Type.Boolean()) })),
  }),
  sentence: ({ orgWindowLimitUsd, subOrgWindowLimitUsd, windowDurationMinutes, enabled }) =>
    enabled === false
      ? lookClosely(
          say`Stop paying the network fees of sends.`,
          'ends sponsoring',
          'Sponsored sends are refused from then on. I want that.',
        )
      : lookClosely(
          say`Pay network fees of up to ${strong(`${orgWindowLimitUsd} USD`)} in all and ${strong(`${subOrgWindowLimitUsd} USD`)} for each sub-organization within ${durationText(Number(windowDurationMinutes) * 60)}.`,
          'spends money of the operator',
          'Up to this much is paid for the fees of others. I want that.',
        ),
  result: Type.Object({ gasUsageConfigId: Type.String() }),
  check({ windowDurationMinutes, solanaConfig }) {
    const minutes = BigInt(windowDurationMinutes);
    if (minutes < 1n || minutes > BigInt(WINDOW_MINUTES_MAX)) {
      throw invalidField('parameters.windowDurationMinutes', `must be 1 to ${WINDOW_MINUTES_MAX}`);
    }
    if (solanaConfig?.rentPrefundEnabled === true) {
      throw notServed(
        'parameters.solanaConfig.rentPrefundEnabled',
        'the operator pays the fees of transactions and nothing else',
      );
    }
  },
  async execute({ store, actor, newId, nowMs }, parameters) {
    const { organizationId } = actor;
    const known = await store(SponsorshipStore).config(organizationId);
    const id: GasUsageConfigId = known?.id ?? newId();
    await store(SponsorshipStore).putConfig({
      organizationId,
      id,
      treeLimitUsd: parameters.orgWindowLimitUsd,
      subOrganizationLimitUsd: parameters.subOrgWindowLimitUsd,
      windowMinutes: Number(parameters.windowDurationMinutes),
      isEnabled: parameters.enabled ?? true,
      createdAtMs: known?.createdAtMs ?? nowMs,
      updatedAtMs: nowMs,
    });
    return { gasUsageConfigId: id as string };
  },
});
