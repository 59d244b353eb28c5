import { describe, expect, it } from 'vitest';
import { identifierOf, NEW_LIMIT, problemsOf, toControl } from './velocity-model.ts';

describe('the form of a velocity control', () => {
  it('makes a limit of an asset', () => {
    const form = {
      ...NEW_LIMIT,
      name: ' Ether a day ',
      caip19: 'eip155:1/slip44:60',
      decimals: '18',
      threshold: '1,000.5',
      group: 'wallet' as const,
    };
    expect(problemsOf(form)).toEqual({});
    expect(toControl(form)).toEqual({
      name: 'Ether a day',
      identifier: 'ether-a-day',
      dataSource: { chainAssetTransfer: { definition: [{ caip19: 'eip155:1/slip44:60', decimals: '18' }] } },
      aggregation: {
        method: 'VELOCITY_CONTROL_AGGREGATION_METHOD_SUM',
        operator: 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL',
        threshold: '1000.5',
        window: { rolling: { duration: '24h' } },
        groupBy: { wallet: {} },
      },
    });
  });

  it('makes a limit of activities, ever', () => {
    const control = toControl({
      ...NEW_LIMIT,
      name: 'Exports',
      counts: 'activities',
      type: 'ACTIVITY_TYPE_EXPORT_WALLET',
      threshold: '10',
      window: 'ever',
    });
    expect(control.dataSource).toEqual({
      activityExecution: { filter: { activity: [{ activityType: 'ACTIVITY_TYPE_EXPORT_WALLET' }] } },
    });
    expect(control.aggregation).toMatchObject({ window: { infinite: {} }, groupBy: { organization: {} } });
  });

  it('says what is missing', () => {
    expect(Object.keys(problemsOf(NEW_LIMIT))).toEqual(['name', 'caip19', 'decimals', 'threshold']);
    expect(problemsOf({ ...NEW_LIMIT, name: 'x', counts: 'activities', threshold: '-1' })).toHaveProperty('threshold');
  });

  it('makes an identifier of any name', () => {
    expect(identifierOf('Fünf Äther / Tag!')).toBe('fu-nf-a-ther-tag');
    expect(identifierOf('日本')).toBe('limit');
  });
});
