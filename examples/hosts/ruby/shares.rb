# shares.rb - two functions that do three quarters and one quarter of the work.
# SPDX-License-Identifier: MIT

def spin(n)
  total = 0
  i = 0
  total += (i += 1) while i < n # the line of most samples
  total
end

def large
  spin(30000)
end

def small
  spin(10000)
end

def caught
  [1].each { fails }
rescue ArgumentError
  nil
end

def fails
  raise ArgumentError, 'an exception leaves a call'
end

600.times do
  large
  small
end
100.times { caught }
5.times { GC.start }
