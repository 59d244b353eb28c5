import Type from 'typebox';
import { lookClosely } from '../../../describe/sentence.ts';
import { named, say } from '../../../describe/text.ts';
import { durationText } from '../../../describe/values.ts';
import { defineActivity } from '../../../engine/define.ts';
import { requireExpression } from '../../../engine/expressions.ts';
import { ExpressionShape, NotesShape } from '../../../engine/shapes/rules.ts';
import { invalidField } from '../../../lib/errors.ts';
import type { SessionProfileId } from '../../../lib/ids.ts';
import { LIMITS } from '../../../lib/limits.ts';
import { NameShape } from '../../../lib/shapes.ts';
import { SessionProfileStore } from '../store/session-profiles.ts';

export const createSessionProfile = defineActivity({
  name: 'create_session_profile',
  type: 'ACTIVITY_TYPE_CREATE_SESSION_PROFILE',
  summary: 'Create a profile that narrows what sessions may do, here and in sub-organizations. It never changes.',
  policy: { governedBy: 'policy', resource: 'SESSION_PROFILE', action: 'CREATE' },
  credentials: 'none',
  scope: 'parent',
  lock: 'shared',
  parameters: Type.Object({
    sessionProfileName: NameShape,
    scope: ExpressionShape,
    expirationSeconds: Type.Optional(Type.String({ pattern: '^[0-9]{1,10}$', 'x-decimal': true })),
    notes: Type.Optional(NotesShape),
  }),
  sentence: ({ sessionProfileName, expirationSeconds }) =>
    lookClosely(
      say`Add session profile ${named(sessionProfileName)}: sessions with it can do only what its scope says${expirationSeconds === undefined ? '' : say`, for ${durationText(Number(expirationSeconds))}`}.`,
      'decides what sessions can do',
      'I have read its scope.',
    ),
  result: Type.Object({ sessionProfileId: Type.String() }),
  check({ scope, expirationSeconds }) {
    if (scope === '') throw invalidField('parameters.scope', 'is required');
    requireExpression('scope', scope, 'parameters.scope');
    const seconds = expirationSeconds === undefined ? 1 : Number(expirationSeconds);
    if (seconds < 1 || seconds > LIMITS.sessionSecondsMax) {
      throw invalidField('parameters.expirationSeconds', `must be from 1 to ${LIMITS.sessionSecondsMax}`);
    }
  },
  async execute({ store, actor, newId, nowMs }, { sessionProfileName, scope, expirationSeconds, notes }) {
    const sessionProfileId: SessionProfileId = newId();
    await store(SessionProfileStore).insert(actor.organizationId, {
      id: sessionProfileId,
      name: sessionProfileName,
      scope,
      expirationSeconds: expirationSeconds === undefined ? undefined : Number(expirationSeconds),
      notes: notes ?? '',
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    });
    return { sessionProfileId };
  },
});
