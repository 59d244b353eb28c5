import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { LIMITS } from '../../../lib/limits.ts';
import { SimulationRequestShape, SimulationShape } from '../simulation/shapes.ts';

export const simulateActivity = defineQuery({
  name: 'simulate_activity',
  ours: true,
  summary:
    'What would become of a submit request, and why: the decision with the reason of every policy, who could still approve, and what MFA, session, IP and velocity rules say. Nothing is changed.',
  bodyLimit: LIMITS.bodyBytes,
  parameters: SimulationRequestShape,
  response: Type.Object({ simulation: SimulationShape }),
  async run({ simulate, actor, nowMs }, request) {
    return { simulation: await simulate(actor, request, nowMs) };
  },
});
