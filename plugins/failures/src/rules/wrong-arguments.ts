import { failureRule } from '../failure-rule.js';

export const wrongArguments = failureRule({
  name: 'wrong-arguments',
  title: 'The program refused its arguments',
  cause: 'The program does not take the arguments that it was given: `<problem>`.',
  fixes: ['Correct the arguments: the --help of the program lists those that it takes.'],
  confidence: 0.94,
  remedy: 'change',
  patterns: [
    /\berror: (?<problem>(?:the following arguments are required|unrecognized arguments|argument [\w/,. -]{1,200}: (?:invalid|expected|ignored)|ambiguous option|invalid choice).*)/,
    /^Error: (?<problem>(?:No such option|Missing (?:option|argument|parameter)|Got unexpected extra argument|Invalid value for).*)/,
    /^(?:\S{1,200}: )?(?<problem>(?:unrecognized option|invalid option|[Uu]nknown option).*)/,
  ],
});
