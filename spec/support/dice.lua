--- dice.lua - dice(seed) returns a function from n to a number in 1 to n, in an equal sequence on every run.
return function(seed)
  return function(n)
    seed = (seed * 1103515245 + 12345) % 2147483648
    return seed // 65536 % n + 1
  end
end
