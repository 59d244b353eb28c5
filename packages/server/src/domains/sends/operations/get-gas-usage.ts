import Type from 'typebox';
import { USD_DIGITS } from '../../../chains/send/cost.ts';
import { defineQuery } from '../../../engine/define.ts';
import { formatUnits } from '../../../lib/amount.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { DAY_MINUTES, firstMinute } from '../sponsorship-model.ts';
import { SponsorshipReader } from '../store/sponsorship.ts';

export const getGasUsage = defineQuery({
  name: 'get_gas_usage',
  summary:
    'What sponsored sends have cost in the window of the limits: of a parent with its sub-organizations, or of a sub-organization.',
  parameters: Type.Object({ organizationId: IdShape }),
  response: Type.Object({
    windowDurationMinutes: Type.Integer(),
    windowLimitUsd: Type.String(),
    usageUsd: Type.String(),
  }),
  async run({ read, actor, nowMs }) {
    const { id, parentId } = actor.organization;
    const config = await read(SponsorshipReader).config(parentId ?? id);
    const windowDurationMinutes = config?.windowMinutes ?? DAY_MINUTES;
    const used = await read(SponsorshipReader).usdUsage(id, firstMinute(nowMs, windowDurationMinutes));
    const limit = parentId === undefined ? config?.treeLimitUsd : config?.subOrganizationLimitUsd;
    return {
      windowDurationMinutes,
      // Empty where no limit holds.
      windowLimitUsd: config?.isEnabled === true ? (limit ?? '') : '',
      usageUsd: formatUnits(used, USD_DIGITS),
    };
  },
});
