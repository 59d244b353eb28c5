import Type from 'typebox';
import { lookClosely } from '../../../describe/sentence.ts';
import { named, say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { IdShape, NameShape } from '../../../lib/shapes.ts';
import { type DeployedApp, operatorPublicKey } from '../model.ts';
import { parseKeys } from '../operator-keys.ts';
import { checkSets, choicesOf, openSet, planSet } from '../operator-sets.ts';
import { KeysShape, OperatorSetParamsShape } from '../shapes.ts';
import { TvcStore } from '../store.ts';

/** protocol/deployments 1.2. */
export const createTvcApp = defineActivity({
  name: 'create_tvc_app',
  type: 'ACTIVITY_TYPE_CREATE_TVC_APP',
  summary: 'Create an app with the operators who approve its manifests and those who hold shares of its quorum key.',
  policy: { governedBy: 'policy', resource: 'TVC_APP', action: 'CREATE' },
  credentials: 'none',
  scope: 'parent',
  parameters: Type.Object({
    name: NameShape,
    quorumPublicKey: KeysShape,
    manifestSetId: Type.Optional(IdShape),
    manifestSetParams: Type.Optional(OperatorSetParamsShape),
    shareSetId: Type.Optional(IdShape),
    shareSetParams: Type.Optional(OperatorSetParamsShape),
    enableEgress: Type.Optional(Type.Boolean()),
    enableDebugModeDeployments: Type.Optional(Type.Boolean()),
  }),
  sentence: ({ name, enableEgress, enableDebugModeDeployments }) =>
    enableDebugModeDeployments === true
      ? lookClosely(
          say`Create app ${named(name)}, whose deployments may run in debug mode: whoever debugs them can read their secrets.`,
          'debug mode',
          'Deployments in debug mode keep no secret. I want that.',
        )
      : say`Create app ${named(name)}${enableEgress === true ? ', which may reach the network' : ''}.`,
  result: Type.Object({
    appId: Type.String(),
    manifestSetId: Type.String(),
    manifestSetOperatorIds: Type.Array(Type.String()),
    manifestSetThreshold: Type.Integer(),
    shareSetId: Type.String(),
    shareSetOperatorIds: Type.Array(Type.String()),
    shareSetThreshold: Type.Integer(),
  }),
  check: (parameters) => {
    parseKeys(parameters.quorumPublicKey, 'parameters.quorumPublicKey');
    checkSets(parameters);
  },
  async describe({ read, actor }, parameters) {
    const { manifest, share } = choicesOf(parameters);
    for (const choice of [manifest, share]) await planSet(read, actor.organizationId, choice);
  },
  async execute(context, parameters) {
    const { store, actor, newId, nowMs } = context;
    const choices = choicesOf(parameters);
    const manifestSet = await openSet(context, choices.manifest);
    const shareSet = await openSet(context, choices.share);
    const { name, quorumPublicKey, enableEgress = false, enableDebugModeDeployments = false } = parameters;
    const app: DeployedApp = {
      id: newId(),
      name,
      quorumPublicKey: operatorPublicKey(parseKeys(quorumPublicKey, 'parameters.quorumPublicKey')),
      manifestSetId: manifestSet.id,
      shareSetId: shareSet.id,
      enableEgress,
      enableDebugMode: enableDebugModeDeployments,
      liveDeploymentId: undefined,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
      deletedAtMs: undefined,
    };
    await store(TvcStore).insertApp(actor.organizationId, app);
    return {
      appId: app.id,
      manifestSetId: manifestSet.id,
      manifestSetOperatorIds: manifestSet.operators.map(({ id }) => id),
      manifestSetThreshold: manifestSet.threshold,
      shareSetId: shareSet.id,
      shareSetOperatorIds: shareSet.operators.map(({ id }) => id),
      shareSetThreshold: shareSet.threshold,
    };
  },
});
