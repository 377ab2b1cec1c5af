# What is there must be right; what is not there yet is nobody's fault.
if [ -e a.txt ] && [ "$(cat a.txt)" != alpha ]; then echo "a.txt: expected alpha, got $(cat a.txt)"; exit 1; fi
if grep -q '^[<=>]\{7\}' list.txt; then echo 'list.txt: marks of a conflict'; exit 1; fi
twice=$(sort list.txt | uniq -d)
if [ -n "$twice" ]; then echo "list.txt: twice $twice"; exit 1; fi
echo 'all is well'
