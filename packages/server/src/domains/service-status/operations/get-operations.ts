import Type from 'typebox';
import { InstallationReader } from '../../../core/store/installation.ts';
import { defineQuery, type QueryContext } from '../../../engine/define.ts';
import { ApiError } from '../../../lib/errors.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { ServiceStatusShape } from '../shapes.ts';
import '../service-status.ts';

export const getOperations = defineQuery({
  name: 'get_operations',
  summary: 'How the service does: health, counters, queues, chains, keys and mail. For root users of the operator.',
  ours: true,
  // Chain nodes are asked how far they are.
  waitsOutside: true,
  parameters: Type.Object({ organizationId: IdShape }),
  response: ServiceStatusShape,
  async run(context) {
    await requireOperator(context);
    return await context.serviceStatus();
  },
});

/** What concerns every organization is for whoever operates the service. */
async function requireOperator({ actor, config, read }: QueryContext): Promise<void> {
  const { organization, homeId, userId } = actor;
  const isEmbedded = config.databaseUrl === undefined;
  const operatorId =
    config.operatorOrganization ?? (isEmbedded ? await read(InstallationReader).get('bootstrap') : undefined);
  if (operatorId === undefined) {
    throw new ApiError(
      'REQUEST_NOT_AUTHORIZED',
      'nobody may see this yet: CUSTOS_OPERATOR_ORGANIZATION names the organization whose root users may',
    );
  }
  if (organization.id !== operatorId || homeId !== operatorId || !organization.rootUserIds.includes(userId)) {
    throw new ApiError(
      'REQUEST_NOT_AUTHORIZED',
      'only root users of the organization that operates the service may see this (CUSTOS_OPERATOR_ORGANIZATION)',
    );
  }
}
