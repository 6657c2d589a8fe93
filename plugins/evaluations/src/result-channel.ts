/** On which the agent half sends the results that it has read. */
export const RESULT_CHANNEL = 'evaluations.results';
