import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What takes longest, by waiting for the most part: last, it would be waited for with nothing else to do. */
const LONG = /faults|hostile|policy-reference|test\/(integrity|restore|backup|fence)/;

/** The long ones first, otherwise as usual. */
export class Sequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => LONG.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
