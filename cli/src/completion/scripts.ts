/** What each shell asks at Tab: `svc complete` knows the commands, so a script need not be made again after an upgrade. */
export const SCRIPTS = {
  bash: `_svc() {
  local answer word quotes=$'[\\\\\\\\"\\']' current=\${COMP_WORDS[COMP_CWORD]}
  local -a words=()
  COMPREPLY=()
  # bash splits --status=QU and a:b; what it has split off is not part of an answer.
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if [[ \${#words[@]} -gt 0 && ( $word == [=:]* || \${words[-1]} == *[=:] ) ]]; then words[-1]+=$word
    else words+=("$word"); fi
  done
  [[ $current == [=:] ]] && current=
  local before=\${words[-1]%"$current"}
  answer=$(svc complete -- "\${words[@]//$quotes/}" 2>/dev/null) || return
  if [ "$answer" = :files ]; then compopt -o default 2>/dev/null; return; fi
  [ -n "$answer" ] || return
  while IFS= read -r word; do
    word=\${word%%$'\\t'*}
    word=\${word:\${#before}}
    [[ $current == [\\"\\']* ]] || printf -v word %q "$word"
    COMPREPLY+=("$word")
  done <<< "$answer"
}
complete -F _svc svc`,
  zsh: `#compdef svc
_svc() {
  local answer line
  local -a candidates
  answer=$(svc complete -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null) || return
  if [[ $answer == :files ]]; then _files; return; fi
  for line in \${(f)answer}; do
    candidates+=("\${\${\${line%%$'\\t'*}//\\\\/\\\\\\\\}//:/\\\\:}:\${line#*$'\\t'}")
  done
  _describe svc candidates
}
if [[ $funcstack[1] == _svc ]]; then _svc "$@"; else compdef _svc svc; fi`,
  fish: `function __svc_complete
  set -l words (commandline -opc)
  set -l current (string unescape -- (commandline -ct | string replace -r '^["\\']' ''))
  set -l answer (svc complete -- $words[2..-1] "$current" 2>/dev/null)
  if test "$answer" = :files
    __fish_complete_path "$current"
  else if test (count $answer) -gt 0
    printf '%s\\n' $answer
  end
end
complete -c svc -f -a '(__svc_complete)'`,
} as const;

export type Shell = keyof typeof SCRIPTS;
export const SHELLS = Object.keys(SCRIPTS) as Shell[];
